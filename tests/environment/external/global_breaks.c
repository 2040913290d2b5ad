// world: breaks
// property: assertion
// native: ext
// why: a global variable with external linkage can be named by any file
#include <assert.h>
int ready;
void step(void);
int main(void)
{
    ready = 1;
    step();
    assert(ready == 1);
    return 0;
}
