// world: breaks
// property: memory
// native: alone
// why: after a successful realloc the old pointer is no longer one
#include <stdlib.h>
int main(void)
{
    char *p = malloc(16), *q;
    int r;
    if (!p)
        return 0;
    p[0] = 'a';
    q = realloc(p, 1 << 16);
    r = p[0];
    if (q)
        free(q);
    return r;
}
