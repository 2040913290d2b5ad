/* The log of comparisons, which the instrumentation writes and the fuzzer reads.
 *
 * It consists of two flat arrays and two counts. A worker maps them by name and clears the counts
 * before a run. When an array is full, later entries are dropped: overwriting would let a loop that
 * compares a million times replace everything else, and the fuzzer takes a random entry anyway. A
 * comparison of equal numbers tells the fuzzer nothing, so it is not logged. */
#include <stddef.h>
#include <stdint.h>

#define CEGAR_EXPORT __attribute__((visibility("default")))
#define CEGAR_CMPS 4096
#define CEGAR_MEMS 256

struct cegar_cmp {
    uint64_t a, b;
    uint32_t bytes, constants;
    uint64_t site; /* identifies the comparison: the return address of the call */
};

struct cegar_mem {
    uint32_t length_a, length_b;
    uint8_t a[32], b[32];
};

CEGAR_EXPORT uint32_t __cegar_cmp_count;
CEGAR_EXPORT uint32_t __cegar_mem_count;
CEGAR_EXPORT struct cegar_cmp __cegar_cmp_log[CEGAR_CMPS];
CEGAR_EXPORT struct cegar_mem __cegar_mem_log[CEGAR_MEMS];

void __cegar_cmp(uint64_t a, uint64_t b, uint32_t bytes, uint32_t constants);
void __cegar_cmp_memory(const void *a, const void *b, uint64_t limit, uint32_t text);

void __cegar_cmp(uint64_t a, uint64_t b, uint32_t bytes, uint32_t constants) {
    uint32_t at = __cegar_cmp_count;
    if (a == b || at >= CEGAR_CMPS) return;
    /* A loop such as `while (i < n)` would fill the log with its changing side. Once the log has 64
     * entries, further comparisons with the same constant are dropped. */
    if (at >= 64) {
        struct cegar_cmp *last = &__cegar_cmp_log[at - 1], *before = &__cegar_cmp_log[at - 2];
        if ((last->b == b && last->bytes == bytes && (constants & 2))
            || (before->b == b && before->bytes == bytes && (constants & 2)))
            return;
    }
    __cegar_cmp_log[at] = (struct cegar_cmp){a, b, bytes, constants,
                                             (uint64_t)(uintptr_t)__builtin_return_address(0)};
    __cegar_cmp_count = at + 1;
}

static uint32_t copy(uint8_t *to, const uint8_t *from, uint64_t limit, uint32_t text) {
    uint32_t n = 0;
    while (n < 32 && n < limit && !(text && from[n] == 0)) {
        to[n] = from[n];
        n++;
    }
    return n;
}

void __cegar_cmp_memory(const void *a, const void *b, uint64_t limit, uint32_t text) {
    uint32_t at = __cegar_mem_count;
    if (at >= CEGAR_MEMS || a == NULL || b == NULL) return;
    struct cegar_mem *entry = &__cegar_mem_log[at];
    entry->length_a = copy(entry->a, a, limit, text);
    entry->length_b = copy(entry->b, b, limit, text);
    if (entry->length_a == 0 && entry->length_b == 0) return;
    __cegar_mem_count = at + 1;
}
