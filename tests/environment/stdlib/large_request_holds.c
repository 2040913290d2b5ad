// world: holds
// property: memory
// native: alone
// why: used to its end where it is granted
#include <stdlib.h>
int main(void)
{
    unsigned long n = 100ul << 20;
    char *p = malloc(n);
    if (!p)
        return 0;
    p[n - 1] = 1;
    free(p);
    return 0;
}
