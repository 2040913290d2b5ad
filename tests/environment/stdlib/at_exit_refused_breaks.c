// world: breaks
// property: assertion
// native: wrap atexit
// assumption: alloc
// why: atexit may refuse
#include <assert.h>
#include <stdlib.h>
static void last(void) {}
int main(void)
{
    assert(atexit(last) == 0);
    return 0;
}
