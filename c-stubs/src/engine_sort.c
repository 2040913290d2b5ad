/* qsort and bsearch. The platform's qsort is a stable merge sort as long as its buffer is small
 * (glibc up to 2.36), and programs observe the order of their comparisons. This is therefore a
 * top-down merge sort with the same order of comparisons. */
#include "engine.h"

typedef int comparison(const void *a, const void *b, void *with);

static void merge_sort(char *base, size_t n, size_t size, char *scratch, comparison *compare,
                       void *with) {
    if (n <= 1) return;
    size_t left = n / 2, right = n - left;
    char *a = base, *b = base + left * size, *to = scratch;
    merge_sort(a, left, size, scratch, compare, with);
    merge_sort(b, right, size, scratch, compare, with);
    while (left > 0 && right > 0) {
        if (compare(a, b, with) <= 0) {
            __builtin_memcpy(to, a, size);
            a += size;
            left--;
        } else {
            __builtin_memcpy(to, b, size);
            b += size;
            right--;
        }
        to += size;
    }
    if (left > 0) __builtin_memcpy(to, a, left * size);
    __builtin_memcpy(base, scratch, (n - right) * size);
}

/* An in-place sort, for when there is no memory for the merge. */
static void insertion_sort(char *base, size_t n, size_t size, comparison *compare, void *with) {
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j > 0 && compare(base + (j - 1) * size, base + j * size, with) > 0; j--)
            for (size_t k = 0; k < size; k++) {
                char c = base[(j - 1) * size + k];
                base[(j - 1) * size + k] = base[j * size + k];
                base[j * size + k] = c;
            }
}

void NAME(qsort_r)(void *base, size_t n, size_t size, comparison *compare, void *with) {
    if (n < 2 || !size) return;
    if (!crunner_assumed("sorting"))
        crunner_unmodelled("another order of comparisons, and of equal elements");
    char *scratch = malloc(n * size);
    if (scratch) merge_sort(base, n, size, scratch, compare, with);
    else insertion_sort(base, n, size, compare, with);
    free(scratch);
}

typedef int plain_comparison(const void *a, const void *b);

static int call_plain(const void *a, const void *b, void *with) {
    return (*(plain_comparison **)with)(a, b);
}

void NAME(qsort)(void *base, size_t n, size_t size, plain_comparison *compare) {
    NAME(qsort_r)(base, n, size, call_plain, &compare);
}

void *NAME(bsearch)(const void *key, const void *base, size_t n, size_t size,
                    plain_comparison *compare) {
    size_t low = 0, high = n;
    if (!crunner_assumed("sorting")) crunner_unmodelled("another order of comparisons");
    while (low < high) {
        size_t middle = (low + high) / 2;
        const void *at = (const char *)base + middle * size;
        int order = compare(key, at);
        if (order == 0) return (void *)at;
        if (order < 0) high = middle;
        else low = middle + 1;
    }
    return 0;
}
