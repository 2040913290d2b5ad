#include <errno.h>
int __wrap_open(const char *path, int flags, ...)
{
    errno = EACCES;
    return -1;
}
