// world: holds
// property: memory
// native: wrap malloc
// options: --faults alloc
// why: both are checked
#include <stdlib.h>
struct pair {
    int *a, *b;
};
int main(void)
{
    struct pair p = {malloc(sizeof(int)), malloc(sizeof(int))};
    if (!p.a || !p.b)
        return 1;
    *p.b = 1;
    return 0;
}
