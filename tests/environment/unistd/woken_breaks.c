// world: breaks
// property: assertion
// native: wrap sleep
// why: a signal ends the sleep before its time
#include <assert.h>
#include <unistd.h>
int main(void)
{
    assert(sleep(2) == 0);
    return 0;
}
