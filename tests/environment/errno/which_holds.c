// world: holds
// property: assertion
// native: wrap open
// why: some number is set
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
int main(void)
{
    if (open("/etc/pairs", O_RDONLY) == -1)
        assert(errno != 0);
    return 0;
}
