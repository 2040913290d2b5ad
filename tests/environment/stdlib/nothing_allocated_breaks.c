// world: breaks
// property: assertion
// native: wrap malloc
// assumption: alloc
// why: malloc(0) may return NULL
#include <assert.h>
#include <stdlib.h>
int main(void)
{
    void *p = malloc(0);
    assert(p);
    free(p);
    return 0;
}
