// world: holds
// property: assertion
// native: alone
// why: an int lies at a multiple of four on this platform
#include <assert.h>
#include <stdint.h>
int main(void)
{
    int i = 1;
    assert(((uintptr_t)&i & 3) == 0);
    return i & 0;
}
