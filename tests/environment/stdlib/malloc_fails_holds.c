// world: holds
// property: memory
// native: wrap malloc
// options: --faults alloc
// why: checked
#include <stdlib.h>
int main(void)
{
    char *p = malloc(10);
    if (!p)
        return 1;
    p[0] = 1;
    free(p);
    return 0;
}
