// world: breaks
// property: memory
// native: wrap malloc
// options: --faults alloc
// why: the same where failing allocations are asked about
#include <stdlib.h>
struct pair {
    int *a, *b;
};
int main(void)
{
    struct pair p = {malloc(sizeof(int)), malloc(sizeof(int))};
    if (!p.a)
        return 1;
    *p.b = 1;
    return 0;
}
