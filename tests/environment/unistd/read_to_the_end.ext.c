#include <stddef.h>
#include <string.h>
long __wrap_read(int fd, void *into, size_t n)
{
    memset(into, 'r', n);
    return (long)n;
}
