// world: holds
// property: assertion
// native: alone
// why: two objects begin at different addresses
#include <assert.h>
#include <stdint.h>
static long a[1] = {1}, b[1] = {2};
int main(void)
{
    assert((uintptr_t)a != (uintptr_t)b);
    return a[0] == b[0];
}
