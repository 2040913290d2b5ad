// world: holds
// property: memory
// native: alone
// why: forth and back again in the offset, not in the address
#include <stdlib.h>
int main(void)
{
    char *p = calloc(16, 1), *q = calloc(16, 1);
    long away = 0x100000000l;
    int r = 0;
    if (p && q)
        r = p[away - 0xFFFFFFFFl];
    free(p);
    free(q);
    return r;
}
