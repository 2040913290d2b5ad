// world: holds
// property: memory
// native: wrap malloc
// why: free takes either
#include <stdlib.h>
int main(void)
{
    void *p = malloc(0);
    free(p);
    return 0;
}
