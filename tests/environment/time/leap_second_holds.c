// world: holds
// property: memory
// native: wrap localtime
// why: twelve months
#include <time.h>
static int months[12];
int main(void)
{
    time_t now = time(0);
    struct tm *date = localtime(&now);
    return date ? months[date->tm_mon] : 0;
}
