// world: breaks
// property: assertion
// native: wrap ftell
// assumption: io
// why: a stream need not have a position
#include <assert.h>
#include <stdio.h>
int main(void)
{
    assert(ftell(stdin) >= 0);
    return 0;
}
