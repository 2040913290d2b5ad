// world: breaks
// property: memory
// native: wrap localtime
// assumption: identity
// why: a minute may have a second 60
#include <time.h>
static int seconds[60];
int main(void)
{
    time_t now = time(0);
    struct tm *date = localtime(&now);
    return date ? seconds[date->tm_sec] : 0;
}
