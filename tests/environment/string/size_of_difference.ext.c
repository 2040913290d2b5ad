#include <stddef.h>
int __real_memcmp(const void *a, const void *b, size_t n);
int __wrap_memcmp(const void *a, const void *b, size_t n) { return 256 * __real_memcmp(a, b, n); }
