// world: holds
// property: assertion
// native: wrap nanosleep
// why: two answers
#include <assert.h>
#include <time.h>
int main(void)
{
    struct timespec t = {0, 1000};
    int r = nanosleep(&t, 0);
    assert(r == 0 || r == -1);
    return 0;
}
