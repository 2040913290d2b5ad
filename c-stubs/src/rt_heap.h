/* The program's heap, shared by the native runtimes. See rt_heap.c. */
#ifndef CRUNNER_RT_HEAP_H
#define CRUNNER_RT_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* The longest block: no program has more addresses (57 bits with five levels of page tables, of
 * which the kernel has half). The engine knows it, too (ONE_ALLOCATION). */
#define CRUNNER_LONGEST_BLOCK ((size_t)1 << 56)

struct crunner_heap;

/* A heap, or NULL. More than `live` bytes at a time end a run; 0 means the contract's limit. */
struct crunner_heap *crunner_heap_new(uint64_t live);
void crunner_heap_delete(struct crunner_heap *heap);
/* Lends the heap memory, of 16-byte alignment, whose owner sees to it that every byte of it holds
 * 0xAA before each run. */
void crunner_heap_lend(struct crunner_heap *heap, void *start, size_t size);
/* Whether the runs from now on have their blocks between pages that may not be touched:
 * CRUNNER_ENDS, CRUNNER_BEGINNINGS, or 0. Under AddressSanitizer that says nothing. */
void crunner_heap_guard(struct crunner_heap *heap, unsigned guard);
/* Makes this the heap that crunner_malloc() and its siblings use, and empties it. */
void crunner_heap_begin(struct crunner_heap *heap);
/* Gives everything back that the program did not free. */
void crunner_heap_end(struct crunner_heap *heap);
/* Whether this address lies behind an array from outside, whose length is a guess. */
int crunner_is_past_row(const struct crunner_heap *heap, uint64_t address);
uint64_t crunner_heap_live(const struct crunner_heap *heap);
uint64_t crunner_heap_peak(const struct crunner_heap *heap);

/* Provided by each runtime: ends the run as out of memory. */
_Noreturn void crunner_heap_exhausted(void);

#endif
