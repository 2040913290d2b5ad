#include <stddef.h>
long __wrap_getrandom(void *into, size_t n, unsigned flags) { return 1; }
