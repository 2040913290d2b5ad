// world: breaks
// property: assertion
// native: alone
// gcc: -fno-toplevel-reorder -fno-pie -no-pie
// assumption: addresses
// why: one past the end of an array can be the address of the next object
#include <assert.h>
#include <stdint.h>
static long a[1] = {1}, b[1] = {2};
int main(void)
{
    assert((uintptr_t)(a + 1) != (uintptr_t)b);
    return a[0] == b[0];
}
