// world: holds
// property: assertion
// native: wrap atexit
// why: what was registered first is called last
#include <assert.h>
#include <stdlib.h>
static int second_done;
static void first(void) { assert(second_done); }
static void second(void) { second_done = 1; }
int main(void)
{
    if (atexit(first) != 0)
        return 1;
    if (atexit(second) != 0)
        second();
    return 0;
}
