// world: breaks
// property: assertion
// native: alone
// why: the floor of -2.5 is -3
#include <assert.h>
#include <math.h>
int main(void)
{
    assert(floor(-2.5) == -2.0);
    return 0;
}
