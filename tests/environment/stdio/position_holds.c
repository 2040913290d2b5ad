// world: holds
// property: assertion
// native: wrap ftell
// why: -1 for none
#include <assert.h>
#include <stdio.h>
int main(void)
{
    assert(ftell(stdin) >= -1);
    return 0;
}
