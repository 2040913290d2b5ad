#include <stddef.h>
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
    static int calls;
    return calls++ ? 0 : __real_malloc(n);
}
