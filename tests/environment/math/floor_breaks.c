// world: breaks
// property: assertion
// native: ext
// why: nothing is below NaN
#include <assert.h>
#include <math.h>
double measure(void);
int main(void)
{
    double x = measure();
    assert(floor(x) <= x);
    return 0;
}
