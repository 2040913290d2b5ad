// world: breaks
// property: memory
// native: ext
// why: what is granted is not below any limit: an int is too small for its length
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
    if ((int)n < 0)
        p[(int)n] = 0;
    free(p);
    return 0;
}
