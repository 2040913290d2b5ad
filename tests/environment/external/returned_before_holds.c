// world: holds
// property: assertion
// native: ext
// why: the value was copied before the call
#include <assert.h>
int *counter(void);
void step(void);
int main(void)
{
    int *p = counter();
    int seen;
    if (!p)
        return 0;
    *p = 5;
    seen = *p;
    step();
    assert(seen == 5);
    return 0;
}
