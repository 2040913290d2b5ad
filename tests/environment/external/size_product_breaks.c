// world: breaks
// property: memory
// native: ext
// why: the product of count and size wraps, what is allocated is too small
#include <stdlib.h>
unsigned count(void);
int main(void)
{
    unsigned n = count();
    int *a;
    if (n == 0)
        return 0;
    a = malloc(n * sizeof(int) & 0xFFFFFFFFu);
    if (!a)
        return 0;
    a[n - 1] = 1;
    free(a);
    return 0;
}
