// world: breaks
// property: assertion
// native: wrap malloc
// why: what malloc gives holds anything
#include <assert.h>
#include <stdlib.h>
int main(void)
{
    unsigned char *p = malloc(4);
    if (!p)
        return 0;
    assert(p[0] == 0);
    return 0;
}
