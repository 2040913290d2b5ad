// world: breaks
// property: memory
// native: ext
// why: a time may have no date, and then the answer is NULL
#include <time.h>
long stamp(void);
int main(void)
{
    time_t t = stamp();
    return gmtime(&t)->tm_mon;
}
