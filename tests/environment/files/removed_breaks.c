// world: breaks
// property: assertion
// native: alone
// assumption: io
// why: what is not there cannot be removed
#include <assert.h>
#include <stdio.h>
int main(void)
{
    assert(remove("/nowhere/to/be/found") == 0);
    return 0;
}
