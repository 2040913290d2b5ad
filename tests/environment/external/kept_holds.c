// world: holds
// property: assertion
// native: ext
// why: this local variable was never handed over
#include <assert.h>
void reg(int *p);
void step(void);
int main(void)
{
    int x = 0, y;
    reg(&x);
    y = 5;
    step();
    assert(y == 5);
    return x & 1;
}
