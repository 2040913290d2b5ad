/* Whether the environment grants memory.
 *
 * The heap below has what it is asked for, as long as there is room in a run. Whether the system
 * would have given it is the environment's: what the program allocates goes through here first,
 * what stubs allocate for themselves does not. In bitcode the program's own calls stay calls of
 * malloc and its siblings, of a size that was asked for here (the engine then knows whose block it
 * is); natively, and where the program takes their address, the functions below take their place.
 *
 * Whatever the rule says, a request of more than 64 MiB may be refused or granted: systems differ
 * in that. It has a channel of its own, so that the choices of the other requests stay the same,
 * and what is assumed of those says nothing of it.
 */
#include "allocation.h"
#include "rt_heap.h"

#define LARGE ((size_t)64 << 20)

/* Whether the environment refuses so many bytes. */
int crunner_refuses(size_t size) {
    if (size > CRUNNER_LONGEST_BLOCK) return 1;
    if (size > LARGE) return !(crunner_choose_byte("malloc:large") & 1);
    if (!crunner_assumed("alloc")) return crunner_choose_byte("malloc") & 1;
    return 0;
}

/* The same for n elements. */
int crunner_refuses_elements(size_t n, size_t size) {
    size_t all;
    return __builtin_mul_overflow(n, size, &all) || crunner_refuses(all);
}

/* What no heap has, where the environment refuses. */
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
