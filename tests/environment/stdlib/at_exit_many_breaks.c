// world: breaks
// property: assertion
// native: alone
// why: forty functions can be registered
#include <assert.h>
#include <stdlib.h>
static int calls;
static void count(void) { assert(++calls < 40); }
int main(void)
{
    for (int i = 0; i < 40; i++)
        if (atexit(count) != 0)
            return 0;
    return 0;
}
