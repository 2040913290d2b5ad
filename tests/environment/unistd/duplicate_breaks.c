// world: breaks
// property: memory
// native: wrap dup
// assumption: io
// why: dup may fail
#include <unistd.h>
static int owners[1024];
int main(void)
{
    int fd = dup(1);
    return fd < 1024 ? owners[fd] : 0;
}
