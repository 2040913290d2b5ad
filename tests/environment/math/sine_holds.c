// world: holds
// property: assertion
// native: ext
// why: of a finite number it lies between these
#include <assert.h>
#include <math.h>
double measure(void);
int main(void)
{
    double x = measure(), s;
    if (!isfinite(x))
        return 0;
    s = sin(x);
    assert(s >= -1.0 && s <= 1.0);
    return 0;
}
