// world: holds
// property: memory
// native: wrap dup
// why: asked
#include <unistd.h>
static int owners[1024];
int main(void)
{
    int fd = dup(1);
    return fd >= 0 && fd < 1024 ? owners[fd] : 0;
}
