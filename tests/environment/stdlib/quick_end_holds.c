// world: holds
// property: assertion
// native: alone
// why: _exit does not
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>
static int done;
static void last(void) { assert(done); }
int main(void)
{
    if (atexit(last) == 0)
        _exit(0);
    return 0;
}
