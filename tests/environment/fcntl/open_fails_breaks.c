// world: breaks
// property: memory
// native: alone
// assumption: io
// why: open may fail
#include <fcntl.h>
static int owners[1024];
int main(void)
{
    int fd = open("/nowhere/to/be/found", O_RDONLY);
    return fd < 1024 ? owners[fd] : 0;
}
