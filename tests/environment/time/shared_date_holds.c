// world: holds
// property: assertion
// native: alone
// why: gmtime_r writes where it is told
#include <assert.h>
#include <time.h>
int main(void)
{
    time_t early = 0, late = 86400;
    struct tm a, b;
    if (gmtime_r(&early, &a) && gmtime_r(&late, &b))
        assert(a.tm_mday == 1);
    return 0;
}
