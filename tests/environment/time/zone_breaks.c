// world: breaks
// property: assertion
// native: ext
// assumption: identity
// why: the zone is the user's
#include <assert.h>
#include <time.h>
int main(void)
{
    time_t t = 86400;
    struct tm *date = localtime(&t);
    if (date)
        assert(date->tm_hour == 0);
    return 0;
}
