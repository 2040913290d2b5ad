// world: holds
// property: memory
// native: wrap open
// why: compared with the room
#include <fcntl.h>
static int owners[16];
int main(void)
{
    int fd = open("/dev/null", O_RDONLY);
    return fd >= 0 && fd < 16 ? owners[fd] : 0;
}
