// world: breaks
// property: assertion
// native: alone
// assumption: addresses
// why: the stack lies far from static variables
#include <assert.h>
#include <stdint.h>
static int near;
int main(void)
{
    int far = 1;
    assert((uintptr_t)&far >> 40 == (uintptr_t)&near >> 40);
    return 0;
}
