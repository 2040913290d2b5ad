// world: holds
// property: assertion
// native: ext
// why: of a number above 0 there is one
#include <assert.h>
#include <math.h>
double measure(void);
int main(void)
{
    double x = measure();
    if (!(x > 0))
        return 0;
    x = log(x);
    assert(x == x);
    return 0;
}
