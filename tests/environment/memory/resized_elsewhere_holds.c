// world: holds
// property: assertion
// native: alone
// why: the block that nobody resizes stays where it is
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
int main(void)
{
    char *p = malloc(16), *wall, *q;
    uintptr_t before = (uintptr_t)p, there;
    wall = malloc(16);
    if (!p || !wall)
        return 0;
    there = (uintptr_t)wall;
    q = realloc(p, 4096);
    assert((uintptr_t)wall == there);
    return q && before;
}
