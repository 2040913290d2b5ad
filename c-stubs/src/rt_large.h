/* Large heap blocks whose pages have the content of fresh memory without being filled. See
 * rt_large.c. */
#ifndef CRUNNER_RT_LARGE_H
#define CRUNNER_RT_LARGE_H

#include <stddef.h>

/* Blocks from this size on are large. Filling smaller blocks is no slower than the page faults of
 * mapped pages. */
#define CRUNNER_LARGE (256u << 10)
#define CRUNNER_PAGE 4096u
/* The number of pages, from the start of an area, whose writes are counted. */
#define CRUNNER_HOT 4096u

/* Pages that are allocated one after the other. */
struct crunner_large {
    char *start, *next, *mapped, *end;
    int pattern; /* a file of the byte that the pages contain, or -1 for zeros */
    int fill;    /* that byte */
    unsigned runs;
    unsigned char often[CRUNNER_HOT]; /* for each page: the score of how often it was written */
    unsigned char hot[CRUNNER_HOT];   /* for each page: 1 if it is filled instead of discarded */
};

/* Reserves pages of this total size that contain `fill`. If that fails, later allocations fail. */
void crunner_large_open(struct crunner_large *pages, size_t room, int fill);
void crunner_large_close(struct crunner_large *pages);
/* Allocates `size` bytes from the start of a page on, with room for a header before them; NULL if
 * no room is left. */
void *crunner_large_take(struct crunner_large *pages, size_t size, size_t header);
/* Makes the pages of a block fresh again. */
void crunner_large_renew(struct crunner_large *pages, void *block, size_t size);
/* Releases all blocks; returns whether there were any. */
int crunner_large_empty(struct crunner_large *pages);
int crunner_large_has(const struct crunner_large *pages, const void *block);

#endif
