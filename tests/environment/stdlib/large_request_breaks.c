// world: breaks
// property: assertion
// native: alone
// why: a hundred megabytes may well be granted
#include <assert.h>
#include <stdlib.h>
int main(void)
{
    char *p = malloc(100ul << 20);
    assert(!p);
    return 0;
}
