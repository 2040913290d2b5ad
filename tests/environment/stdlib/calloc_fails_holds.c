// world: holds
// property: memory
// native: wrap calloc
// options: --faults alloc
// why: checked
#include <stdlib.h>
int main(void)
{
    int *p = calloc(3, sizeof *p);
    return p ? p[2] : 0;
}
