// world: holds
// property: assertion
// native: alone
// why: exact results
#include <assert.h>
#include <math.h>
int main(void)
{
    assert(floor(-2.5) == -3.0 && ceil(-2.5) == -2.0 && trunc(-2.5) == -2.0 && round(-2.5) == -3.0);
    return 0;
}
