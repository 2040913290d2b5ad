/* Atomic accesses to objects that are too large for a single instruction; the compiler calls these
 * functions. There is one thread, so ordinary accesses suffice. A comparison covers all bytes,
 * including padding, as in libatomic. */
#include "stub.h"

int memcmp(const void *a, const void *b, size_t n);

STUB void CRUNNER___atomic_load(size_t size, const void *from, void *into, int order) {
    memcpy(into, from, size);
}
STUB void CRUNNER___atomic_store(size_t size, void *at, const void *value, int order) {
    memcpy(at, value, size);
}
STUB void CRUNNER___atomic_exchange(size_t size, void *at, const void *value, void *before,
                                    int order) {
    const unsigned char *new = value;
    unsigned char *here = at, *old = before;
    /* `before` and `value` may overlap. */
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = new[i];
        old[i] = here[i];
        here[i] = byte;
    }
}
STUB _Bool CRUNNER___atomic_compare_exchange(size_t size, void *at, void *expected,
                                             const void *value, int success, int failure) {
    if (memcmp(at, expected, size) == 0) {
        memcpy(at, value, size);
        return 1;
    }
    memcpy(expected, at, size);
    return 0;
}
