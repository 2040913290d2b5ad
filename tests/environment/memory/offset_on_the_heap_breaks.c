// world: breaks
// property: memory
// native: alone
// why: the next block of the heap is not 2^32 bytes on
#include <stdlib.h>
int main(void)
{
    char *p = calloc(16, 1), *q = calloc(16, 1);
    int r = 0;
    if (p && q)
        r = p[0x100000000l];
    free(p);
    free(q);
    return r;
}
