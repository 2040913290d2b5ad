// world: holds
// property: assertion
// native: ext
// why: the pointer is static as well
#include <assert.h>
static int x;
static int *gate = &x;
void step(void);
int main(void)
{
    *gate = 1;
    step();
    assert(x == 1);
    return 0;
}
