// world: breaks
// property: assertion
// native: alone
// why: a later call of strerror may write over what the earlier one answered
#include <assert.h>
#include <string.h>
int main(void)
{
    const char *a = strerror(9001), *b = strerror(9002);
    assert(strcmp(a, b) != 0);
    return 0;
}
