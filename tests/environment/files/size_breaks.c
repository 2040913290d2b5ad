// world: breaks
// property: memory
// native: alone
// why: a file may be larger than the room for it
#include <sys/stat.h>
static char room[64];
int main(void)
{
    struct stat s;
    if (stat("/proc/self/exe", &s) != 0)
        return 0;
    room[s.st_size] = 0;
    return room[0];
}
