// world: breaks
// property: assertion
// native: ext
// why: fabs of NaN is NaN
#include <assert.h>
#include <math.h>
double measure(void);
int main(void)
{
    assert(fabs(measure()) >= 0);
    return 0;
}
