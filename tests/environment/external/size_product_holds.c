// world: holds
// property: memory
// native: ext
// why: calloc looks at the product
#include <stdlib.h>
unsigned count(void);
int main(void)
{
    unsigned n = count();
    int *a;
    if (n == 0)
        return 0;
    a = calloc(n, sizeof(int));
    if (!a)
        return 0;
    a[n - 1] = 1;
    free(a);
    return 0;
}
