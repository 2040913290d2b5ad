// world: breaks
// property: assertion
// native: alone
// assumption: realloc-moves addresses
// why: realloc may leave the block where it is
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
int main(void)
{
    char *p = malloc(64), *q;
    uintptr_t before = (uintptr_t)p;
    if (!p)
        return 0;
    q = realloc(p, 32);
    assert((uintptr_t)q != before);
    return 0;
}
