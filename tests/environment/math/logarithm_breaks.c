// world: breaks
// property: assertion
// native: ext
// why: the logarithm of 0 is minus infinity, and sets errno
#include <assert.h>
#include <errno.h>
#include <math.h>
double measure(void);
int main(void)
{
    double x = measure();
    if (!(x >= 0))
        return 0;
    errno = 0;
    x = log(x);
    assert(errno == 0);
    return 0;
}
