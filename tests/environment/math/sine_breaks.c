// world: breaks
// property: assertion
// native: ext
// why: the sine of infinity is NaN
#include <assert.h>
#include <math.h>
double measure(void);
int main(void)
{
    double s = sin(measure());
    assert(s >= -1.0 && s <= 1.0);
    return 0;
}
