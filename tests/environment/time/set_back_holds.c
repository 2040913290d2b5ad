// world: holds
// property: assertion
// native: wrap time
// why: the monotonic clock cannot
#include <assert.h>
#include <time.h>
int main(void)
{
    struct timespec a, b;
    if (clock_gettime(CLOCK_MONOTONIC, &a) != 0 || clock_gettime(CLOCK_MONOTONIC, &b) != 0)
        return 0;
    assert(b.tv_sec >= a.tv_sec);
    return 0;
}
