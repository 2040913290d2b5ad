// world: holds
// property: assertion
// native: ext
// why: otherwise the floor is not above
#include <assert.h>
#include <math.h>
double measure(void);
int main(void)
{
    double x = measure();
    assert(x != x || floor(x) <= x);
    return 0;
}
