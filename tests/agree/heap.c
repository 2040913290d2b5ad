/* The whole malloc family: alignment, sizes that overflow, requests that are refused, realloc to nothing, errno. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "crunner.h"

static unsigned sum(const unsigned char *bytes, size_t n)
{
    unsigned s = 1;
    for (size_t i = 0; i < n; i++)
        s = s * 31 + bytes[i];
    return s;
}

static void report(const char *what, void *block, size_t n)
{
    printf("%s: %s %zu %x errno %d\n", what, block ? "block" : "none", malloc_usable_size(block),
           block ? sum(block, n) : 0, errno);
    errno = 0;
}

int main(void)
{
    size_t n = crunner_get_byte(), huge = (size_t)crunner_get_byte() << 24;
    void *p = NULL, *q;

    report("fresh", q = malloc(n), n);
    free(q);
    report("huge", q = malloc(huge + 1), 1);
    free(q);
    report("cleared", q = calloc(n, 3), n * 3);
    free(q);
    report("overflowing calloc", q = calloc(SIZE_MAX / 2, 3 + n), 0);
    free(q);

    printf("%d\n", posix_memalign(&p, 64, n));
    report("aligned", p, n);
    if (p)
        printf("%d\n", (int)((uintptr_t)p % 8));
    free(p);
    p = &n;
    printf("%d %d\n", posix_memalign(&p, 24, n), p == &n);
    printf("%d %d\n", posix_memalign(&p, 4, n), p == &n);
    report("valloc", q = valloc(n), n);
    free(q);
    report("memalign", q = memalign(32, n), n);
    free(q);
    report("crooked memalign", q = memalign(33, n), n);
    free(q);
    report("aligned_alloc", q = aligned_alloc(16, n), n);

    q = realloc(q, n + 9);
    report("grown", q, n + 9);
    q = reallocarray(q, n, 2);
    report("array", q, n * 2);
    if (q) {
        memset(q, 'x', n * 2);
        void *same = reallocarray(q, SIZE_MAX / 2, 4);
        report("overflowing array", same, 0);
        report("still there", q, n * 2);
        same = realloc(q, huge + ((size_t)64 << 20) + 1);
        report("too large", same, 0);
        report("still there", q, n * 2);
        q = realloc(q, n / 2);
        report("shrunk", q, n / 2);
    }
    if (q) {
        q = realloc(q, 0);
        printf("%d\n", q == NULL);
    }
    q = realloc(NULL, 0);
    printf("%d %zu\n", q != NULL, malloc_usable_size(q));
    free(q);
    free(NULL);
    if (n == 'f') {
        q = malloc(1);
        free(q);
        free(q);
    }
    return (int)(n & 7);
}
