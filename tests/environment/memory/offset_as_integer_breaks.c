// world: breaks
// property: memory
// native: alone
// why: the sum of numbers leaves the object as the sum of a pointer does
#include <stdint.h>
static char a[16], b[16];
int main(void)
{
    uintptr_t at = (uintptr_t)a + 0x100000000ul;
    b[0] = 1;
    return *(char *)at;
}
