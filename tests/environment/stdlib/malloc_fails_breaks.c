// world: breaks
// property: memory
// native: wrap malloc
// assumption: alloc
// why: malloc may return NULL for ten bytes, too
#include <stdlib.h>
int main(void)
{
    char *p = malloc(10);
    p[0] = 1;
    free(p);
    return 0;
}
