// world: holds
// property: memory
// native: alone
// why: an address that was taken from an object, and given back as a number
#include <stdint.h>
static char a[16];
int main(void)
{
    uintptr_t at = (uintptr_t)&a[3];
    a[0] = 1;
    return *(char *)at;
}
