// world: breaks
// property: assertion
// native: alone
// assumption: addresses
// why: a block that was freed can be the next one that malloc returns
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
int main(void)
{
    char *p = malloc(24), *q;
    uintptr_t before = (uintptr_t)p;
    free(p);
    q = malloc(24);
    if (before && q)
        assert((uintptr_t)q != before);
    free(q);
    return 0;
}
