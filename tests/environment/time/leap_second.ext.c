#include <time.h>
struct tm *__wrap_localtime(const time_t *t)
{
    static struct tm date = {.tm_sec = 60, .tm_mon = 11};
    return &date;
}
