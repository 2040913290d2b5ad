// world: breaks
// property: assertion
// native: ext
// why: a global pointer leads to the static variable
#include <assert.h>
static int x;
int *gate = &x;
void step(void);
int main(void)
{
    x = 1;
    step();
    assert(x == 1);
    return 0;
}
