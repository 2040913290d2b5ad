// world: breaks
// property: assertion
// native: ext
// assumption: external-exits
// why: the call may end the program with quick_exit
#include <assert.h>
#include <stdlib.h>
static int done;
void step(void);
static void at_the_end(void) { assert(done); }
int main(void)
{
    if (at_quick_exit(at_the_end) != 0)
        return 0;
    step();
    done = 1;
    return 0;
}
