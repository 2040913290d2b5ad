// world: breaks
// property: assertion
// native: alone
// why: the root of a negative number is an error of the domain
#include <assert.h>
#include <errno.h>
#include <math.h>
int main(void)
{
    volatile double x = -1.0;
    errno = 0;
    x = sqrt(x);
    assert(errno == 0);
    return 0;
}
