// world: holds
// property: assertion
// native: ext
// why: in UTC this is known
#include <assert.h>
#include <time.h>
int main(void)
{
    time_t t = 86400;
    struct tm *date = gmtime(&t);
    if (date)
        assert(date->tm_hour == 0 && date->tm_mday == 2 && date->tm_year == 70);
    return 0;
}
