// world: holds
// property: assertion
// native: wrap malloc
// why: calloc's memory is zero
#include <assert.h>
#include <stdlib.h>
int main(void)
{
    unsigned char *p = calloc(4, 1);
    if (!p)
        return 0;
    assert(p[0] == 0);
    return 0;
}
