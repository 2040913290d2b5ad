#include <stdio.h>
size_t __wrap_fwrite(const void *p, size_t size, size_t n, FILE *f) { return n / 2; }
