// world: breaks
// property: assertion
// native: ext
// why: what was handed over once can be written by a later call
#include <assert.h>
void reg(int *p);
void step(void);
int main(void)
{
    int x = 0;
    reg(&x);
    x = 5;
    step();
    assert(x == 5);
    return 0;
}
