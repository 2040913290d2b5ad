/* The program's heap, shared by the native runtimes. See rt_heap.c. */
#ifndef CRUNNER_RT_HEAP_H
#define CRUNNER_RT_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* The size of the longest block: a process has no more addresses (57 bits with five levels of page
 * tables, half of which the kernel has). The engine has the same constant (ONE_ALLOCATION). */
#define CRUNNER_LONGEST_BLOCK ((size_t)1 << 56)

struct crunner_heap;

/* Creates a heap; NULL if there is no memory. More than `live` live bytes end a run; 0 stands for
 * the contract's limit. */
struct crunner_heap *crunner_heap_new(uint64_t live);
void crunner_heap_delete(struct crunner_heap *heap);
/* Lends memory to the heap, aligned to 16 bytes. Its owner ensures that every byte is 0xAA before
 * each run. */
void crunner_heap_lend(struct crunner_heap *heap, void *start, size_t size);
/* Whether the blocks of later runs are placed next to inaccessible pages: CRUNNER_ENDS,
 * CRUNNER_BEGINNINGS, or 0. Has no effect under AddressSanitizer. */
void crunner_heap_guard(struct crunner_heap *heap, unsigned guard);
/* Makes this the heap that crunner_malloc() and its siblings use, and empties it. */
void crunner_heap_begin(struct crunner_heap *heap);
/* Releases everything that the program did not free. */
void crunner_heap_end(struct crunner_heap *heap);
/* Whether this address is past the end of an array from outside, whose length is a guess. */
int crunner_is_past_row(const struct crunner_heap *heap, uint64_t address);
uint64_t crunner_heap_live(const struct crunner_heap *heap);
uint64_t crunner_heap_peak(const struct crunner_heap *heap);

/* Provided by each runtime: ends the run as out of memory. */
_Noreturn void crunner_heap_exhausted(void);

#endif
