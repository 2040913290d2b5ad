// world: breaks
// property: assertion
// native: ext
// assumption: external-exits
// why: the call may end the program, and the functions of atexit see what was not done
#include <assert.h>
#include <stdlib.h>
static int done;
static void at_the_end(void) { assert(done); }
void step(void);
int main(void)
{
    if (atexit(at_the_end) != 0)
        return 0;
    step();
    done = 1;
    return 0;
}
