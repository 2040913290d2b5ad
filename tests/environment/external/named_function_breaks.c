// world: breaks
// property: assertion
// native: ext
// assumption: external-calls
// why: a function with external linkage can be called by any file, nobody has to hand it over
#include <assert.h>
static int n;
void bump(void) { n++; }
void step(void);
int main(void)
{
    n = 0;
    step();
    assert(n == 0);
    return 0;
}
