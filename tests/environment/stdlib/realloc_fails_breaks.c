// world: breaks
// property: memory
// native: wrap realloc
// assumption: alloc
// why: realloc may return NULL
#include <stdlib.h>
int main(void)
{
    char *p = malloc(4);
    if (!p)
        return 1;
    p = realloc(p, 8);
    p[7] = 0;
    free(p);
    return 0;
}
