// world: breaks
// property: assertion
// native: alone
// why: exit calls what atexit registered
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>
static int done;
static void last(void) { assert(done); }
int main(void)
{
    if (atexit(last) == 0)
        exit(0);
    return 0;
}
