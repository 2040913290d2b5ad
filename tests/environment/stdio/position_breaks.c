// world: breaks
// property: assertion
// native: wrap ftell
// assumption: io output devices
// why: a stream need not have a position
#include <assert.h>
#include <stdio.h>
int main(void)
{
    assert(ftell(stdin) >= 0);
    return 0;
}
