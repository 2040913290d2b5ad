#include <errno.h>
int __wrap_close(int fd)
{
    errno = EIO;
    return -1;
}
