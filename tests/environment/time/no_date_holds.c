// world: holds
// property: memory
// native: ext
// why: asked
#include <time.h>
long stamp(void);
int main(void)
{
    time_t t = stamp();
    struct tm *date = gmtime(&t);
    return date ? date->tm_mon : 0;
}
