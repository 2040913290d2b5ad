// world: holds
// property: memory
// native: ext
// why: the index is as wide as the length
#include <stdlib.h>
unsigned length(void);
int main(void)
{
    unsigned n = length();
    char *p;
    if (n < 16)
        return 0;
    p = malloc(n);
    if (!p)
        return 0;
    p[n - 1] = 0;
    free(p);
    return 0;
}
