#include <stddef.h>
#include <string.h>
void __wrap_qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    /* Two elements; equal ones change places. */
    char *a = base, *b = a + size, held[64];
    if (n == 2 && compare(a, b) >= 0) {
        memcpy(held, a, size);
        memcpy(a, b, size);
        memcpy(b, held, size);
    }
}
