// world: holds
// property: assertion
// native: alone
// why: two blocks that live at the same time
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
int main(void)
{
    char *p = malloc(24), *q;
    uintptr_t before = (uintptr_t)p;
    q = malloc(24);
    if (before && q)
        assert((uintptr_t)q != before);
    free(p);
    free(q);
    return 0;
}
