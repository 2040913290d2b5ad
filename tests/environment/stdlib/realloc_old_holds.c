// world: holds
// property: memory
// native: alone
// why: through the new pointer, or the old one where there is no new one
#include <stdlib.h>
int main(void)
{
    char *p = malloc(16), *q;
    int r;
    if (!p)
        return 0;
    p[0] = 'a';
    q = realloc(p, 1 << 16);
    r = q ? q[0] : p[0];
    free(q ? q : p);
    return r;
}
