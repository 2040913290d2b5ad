// world: breaks
// property: assertion
// native: wrap time
// assumption: clock
// why: the clock of the day can be set back
#include <assert.h>
#include <time.h>
int main(void)
{
    time_t a = time(0), b = time(0);
    assert(b >= a);
    return 0;
}
