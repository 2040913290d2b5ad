// world: breaks
// property: memory
// native: wrap open
// assumption: descriptors
// why: the first descriptors may be in use already
#include <fcntl.h>
static int owners[16];
int main(void)
{
    int fd = open("/dev/null", O_RDONLY);
    return fd >= 0 ? owners[fd] : 0;
}
