// world: breaks
// property: assertion
// native: wrap nanosleep
// why: a signal ends it early
#include <assert.h>
#include <time.h>
int main(void)
{
    struct timespec t = {0, 1000};
    assert(nanosleep(&t, 0) == 0);
    return 0;
}
