// world: breaks
// property: memory
// native: wrap calloc
// assumption: alloc
// why: calloc may return NULL
#include <stdlib.h>
int main(void)
{
    int *p = calloc(3, sizeof *p);
    return p[2];
}
