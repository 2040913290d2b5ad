// world: breaks
// property: assertion
// native: alone
// why: both answers are one structure
#include <assert.h>
#include <time.h>
int main(void)
{
    time_t early = 0, late = 86400;
    struct tm *a = gmtime(&early), *b = gmtime(&late);
    if (a && b)
        assert(a->tm_mday == 1);
    return 0;
}
