// world: holds
// property: assertion
// native: ext
// why: done before the call
#include <assert.h>
#include <stdlib.h>
static int done;
void step(void);
__attribute__((destructor)) static void at_the_end(void) { assert(done); }
int main(void)
{
    done = 1;
    step();
    return 0;
}
