#include <stddef.h>
long __wrap_write(int fd, const void *p, size_t n) { return -1; }
