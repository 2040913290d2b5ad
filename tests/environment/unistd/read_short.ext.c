#include <stddef.h>
long __wrap_read(int fd, void *into, size_t n)
{
    *(char *)into = 1;
    return (long)n - 1;
}
