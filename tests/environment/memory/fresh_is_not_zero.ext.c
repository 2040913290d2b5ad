#include <stddef.h>
#include <string.h>
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
    void *p = __real_malloc(n);
    if (p)
        memset(p, 0x5A, n);
    return p;
}
