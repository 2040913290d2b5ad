// world: holds
// property: memory
// native: wrap realloc
// options: --faults alloc
// why: the old block is kept until the new one is there
#include <stdlib.h>
int main(void)
{
    char *p = malloc(4), *q;
    if (!p)
        return 1;
    q = realloc(p, 8);
    if (!q) {
        p[3] = 0;
        free(p);
        return 1;
    }
    q[7] = 0;
    free(q);
    return 0;
}
