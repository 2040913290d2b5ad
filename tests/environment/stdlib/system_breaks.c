// world: breaks
// property: assertion
// native: alone
// why: a command can be run
#include <assert.h>
#include <stdlib.h>
int main(void)
{
    assert(system("true") != 0);
    return 0;
}
