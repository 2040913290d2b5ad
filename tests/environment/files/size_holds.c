// world: holds
// property: memory
// native: alone
// why: compared
#include <sys/stat.h>
static char room[64];
int main(void)
{
    struct stat s;
    if (stat("/proc/self/exe", &s) != 0)
        return 0;
    if (s.st_size < 0 || s.st_size >= (long)sizeof room)
        return 0;
    room[s.st_size] = 0;
    return room[0];
}
