// world: breaks
// property: assertion
// native: ext
// assumption: external-exits
// why: the call may end the program, and a destructor runs then
#include <assert.h>
#include <stdlib.h>
static int done;
void step(void);
__attribute__((destructor)) static void at_the_end(void) { assert(done); }
int main(void)
{
    step();
    done = 1;
    return 0;
}
