// world: holds
// property: assertion
// native: wrap malloc
// why: written first
#include <assert.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    unsigned char *p = malloc(4);
    if (!p)
        return 0;
    memset(p, 1, 4);
    assert(p[1] != 0);
    return 0;
}
