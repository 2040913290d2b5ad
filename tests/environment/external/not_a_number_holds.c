// world: holds
// property: assertion
// native: ext
// why: the comparison that lets it through is false for NaN
#include <assert.h>
double measure(void);
int main(void)
{
    double d = measure();
    if (!(d >= 0))
        return 0;
    assert(d >= 0);
    return 0;
}
