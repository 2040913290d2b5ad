// world: holds
// property: assertion
// native: alone
// why: the elements of an array lie side by side
#include <assert.h>
#include <stdint.h>
static int near[2];
int main(void)
{
    int far = 1;
    assert((uintptr_t)&near[1] - (uintptr_t)&near[0] == sizeof(int));
    return far & 0;
}
