/* Memory for the program, which the environment may refuse. Stubs allocate memory for themselves
 * with malloc. */
#ifndef CRUNNER_ALLOCATION_H
#define CRUNNER_ALLOCATION_H

#include "stub.h"

#ifdef CRUNNER_NATIVE
#define reallocarray crunner_reallocarray
#define aligned_alloc crunner_aligned_alloc
#define memalign crunner_memalign
#define valloc crunner_valloc
#define posix_memalign crunner_posix_memalign
#endif
void *reallocarray(void *block, size_t n, size_t size);
void *aligned_alloc(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size);
void *valloc(size_t size);
int posix_memalign(void **into, size_t alignment, size_t size);

int crunner_refuses(size_t size);
int crunner_refuses_elements(size_t n, size_t size);
void *crunner_granted_malloc(size_t size);
void *crunner_granted_calloc(size_t n, size_t size);
void *crunner_granted_realloc(void *block, size_t size);
void *crunner_granted_reallocarray(void *block, size_t n, size_t size);
void *crunner_granted_aligned_alloc(size_t alignment, size_t size);
void *crunner_granted_memalign(size_t alignment, size_t size);
void *crunner_granted_valloc(size_t size);
int crunner_granted_posix_memalign(void **into, size_t alignment, size_t size);

/* An object that only a specific function releases. No heap block starts at its address, so that
 * passing it to free() is an error. */
#define AHEAD 16
static inline void *crunner_handle(size_t size) {
    char *block = crunner_granted_calloc(1, AHEAD + size);
    return block ? block + AHEAD : 0;
}
static inline void crunner_handle_back(void *handle) { free((char *)handle - AHEAD); }

#endif
