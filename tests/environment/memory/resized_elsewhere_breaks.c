// world: breaks
// property: assertion
// native: alone
// assumption: addresses
// why: realloc may move the block
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
int main(void)
{
    char *p = malloc(16), *wall, *q;
    uintptr_t before = (uintptr_t)p;
    wall = malloc(16);
    if (!p || !wall)
        return 0;
    q = realloc(p, 4096);
    assert(!q || (uintptr_t)q == before);
    return 0;
}
