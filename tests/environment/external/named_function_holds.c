// world: holds
// property: assertion
// native: ext
// why: a static one cannot
#include <assert.h>
static int n;
static void bump(void) { n++; }
void step(void);
int main(void)
{
    bump();
    n = 0;
    step();
    assert(n == 0);
    return 0;
}
