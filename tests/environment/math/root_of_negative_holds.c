// world: holds
// property: assertion
// native: alone
// why: of four it is two
#include <assert.h>
#include <errno.h>
#include <math.h>
int main(void)
{
    double x = 4.0;
    errno = 0;
    x = sqrt(x);
    assert(errno == 0 && x == 2.0);
    return 0;
}
