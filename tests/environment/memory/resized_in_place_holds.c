// world: holds
// property: assertion
// native: alone
// why: what it holds stays, wherever it is
#include <assert.h>
#include <stdlib.h>
int main(void)
{
    char *p = malloc(64), *q;
    if (!p)
        return 0;
    p[31] = 'x';
    q = realloc(p, 32);
    assert(!q || q[31] == 'x');
    return 0;
}
