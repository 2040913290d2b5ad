// world: holds
// property: assertion
// native: ext
// why: done before the call
#include <assert.h>
#include <stdlib.h>
static int done;
void step(void);
static void at_the_end(void) { assert(done); }
static int (*const ways[2])(void (*)(void)) = {atexit, at_quick_exit};
int main(int argc, char **argv)
{
    if (ways[argc < 1](at_the_end) != 0)
        return 0;
    done = 1;
    step();
    return 0;
}
