// world: holds
// property: memory
// native: alone
// why: asked
#include <fcntl.h>
static int owners[1024];
int main(void)
{
    int fd = open("/nowhere/to/be/found", O_RDONLY);
    return fd >= 0 && fd < 1024 ? owners[fd] : 0;
}
