// world: holds
// property: assertion
// native: ext
// why: a static one cannot
#include <assert.h>
static int ready;
void step(void);
int main(void)
{
    ready = 1;
    step();
    assert(ready == 1);
    return 0;
}
