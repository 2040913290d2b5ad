// world: breaks
// property: assertion
// native: wrap open
// assumption: io
// why: a file that cannot be opened may be there
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
int main(void)
{
    if (open("/etc/pairs", O_RDONLY) == -1)
        assert(errno == ENOENT);
    return 0;
}
