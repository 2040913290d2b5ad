// world: breaks
// property: assertion
// native: ext
// why: a double may be NaN
#include <assert.h>
double measure(void);
int main(void)
{
    double d = measure();
    if (d < 0)
        return 0;
    assert(d >= 0);
    return 0;
}
