// world: breaks
// property: assertion
// native: ext
// assumption: descriptors
// why: where standard input was closed, the next file gets its number
#include <assert.h>
#include <fcntl.h>
int main(void)
{
    int fd = open("/dev/null", O_RDONLY);
    assert(fd == -1 || fd > 2);
    return 0;
}
