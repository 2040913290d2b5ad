/* Whether the environment grants memory.
 *
 * The heap itself can satisfy every request for which a run has room. Whether the system would
 * satisfy it is a choice of the environment: allocations of the program pass through these
 * functions, allocations of stubs for themselves do not. In bitcode, the program's own calls remain
 * calls of malloc and its siblings, with a size that was requested here, so that the engine knows
 * who owns the block. Natively, and where the program takes their address, the functions below
 * replace them.
 *
 * Independently of the assumption, a request of more than 64 MiB may be refused or granted, since
 * systems differ in that. It has its own channel, so that it does not shift the choices of the
 * other requests, and the assumption about those does not apply to it. */
#include "allocation.h"
#include "rt_heap.h"

#define LARGE ((size_t)64 << 20)

/* Whether the environment refuses this size in bytes. */
int crunner_refuses(size_t size) {
    if (size > CRUNNER_LONGEST_BLOCK) return 1;
    if (size > LARGE) return !(crunner_choose_byte("malloc:large") & 1);
    if (!crunner_assumed("alloc")) return crunner_choose_byte("malloc") & 1;
    return 0;
}

/* The same for an array of n elements. */
int crunner_refuses_elements(size_t n, size_t size) {
    size_t all;
    return __builtin_mul_overflow(n, size, &all) || crunner_refuses(all);
}

/* The size to request from the heap: one that no heap has, if the environment refuses. */
static size_t granted(size_t size) { return crunner_refuses(size) ? SIZE_MAX : size; }

void *crunner_granted_malloc(size_t size) { return malloc(granted(size)); }

void *crunner_granted_calloc(size_t n, size_t size) {
    int refused = crunner_refuses_elements(n, size);
    return calloc(refused ? SIZE_MAX : n, refused ? SIZE_MAX : size);
}

void *crunner_granted_realloc(void *block, size_t size) { return realloc(block, granted(size)); }

void *crunner_granted_reallocarray(void *block, size_t n, size_t size) {
    int refused = crunner_refuses_elements(n, size);
    return reallocarray(block, refused ? SIZE_MAX : n, refused ? SIZE_MAX : size);
}

void *crunner_granted_aligned_alloc(size_t alignment, size_t size) {
    return aligned_alloc(alignment, granted(size));
}
void *crunner_granted_memalign(size_t alignment, size_t size) {
    return memalign(alignment, granted(size));
}
void *crunner_granted_valloc(size_t size) { return valloc(granted(size)); }

int crunner_granted_posix_memalign(void **into, size_t alignment, size_t size) {
    return posix_memalign(into, alignment, granted(size));
}
