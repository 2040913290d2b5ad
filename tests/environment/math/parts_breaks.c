// world: breaks
// property: assertion
// native: alone
// why: eight is a half of sixteen
#include <assert.h>
#include <math.h>
int main(void)
{
    volatile double eight = 8.0, more = 3.25;
    int exponent;
    double whole, f = frexp(eight, &exponent), g = modf(more, &whole);
    assert(f == 1.0 && exponent == 3 && g == 0.25 && whole == 3.0);
    return 0;
}
