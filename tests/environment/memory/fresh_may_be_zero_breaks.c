// world: breaks
// property: assertion
// native: wrap malloc
// why: zeros as well as a pattern
#include <assert.h>
#include <stdlib.h>
int main(void)
{
    unsigned char *p = malloc(4);
    if (!p)
        return 0;
    assert(p[1] != 0);
    return 0;
}
