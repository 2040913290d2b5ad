// world: breaks
// property: assertion
// native: ext
// why: an object that was returned earlier may be written by a later call
#include <assert.h>
int *counter(void);
void step(void);
int main(void)
{
    int *p = counter();
    if (!p)
        return 0;
    *p = 5;
    step();
    assert(*p == 5);
    return 0;
}
