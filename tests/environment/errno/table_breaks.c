// world: breaks
// property: memory
// native: wrap close
// assumption: io
// why: the number of an error is not one of a few
#include <errno.h>
#include <unistd.h>
static int counts[5];
int main(void)
{
    errno = 0;
    if (close(1) == 0)
        return 0;
    return counts[errno];
}
