// world: holds
// property: assertion
// native: ext
// why: never negative
#include <assert.h>
#include <math.h>
double measure(void);
int main(void)
{
    assert(!(exp(measure()) < 0));
    return 0;
}
