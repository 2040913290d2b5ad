// world: breaks
// property: assertion
// native: ext
// why: it may overflow
#include <assert.h>
#include <math.h>
double measure(void);
int main(void)
{
    double x = measure();
    if (!isfinite(x))
        return 0;
    assert(isfinite(exp(x)));
    return 0;
}
