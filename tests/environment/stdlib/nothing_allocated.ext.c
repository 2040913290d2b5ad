#include <stddef.h>
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n) { return n ? __real_malloc(n) : 0; }
