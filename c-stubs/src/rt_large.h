/* Large heap blocks whose pages hold what fresh memory holds without being filled. See rt_large.c.
 */
#ifndef CRUNNER_RT_LARGE_H
#define CRUNNER_RT_LARGE_H

#include <stddef.h>

/* Blocks from this size on are large. Filling less costs no more than the page faults that mapping
 * brings. */
#define CRUNNER_LARGE (256u << 10)
#define CRUNNER_PAGE 4096u
/* So many pages of an area may be found to be written in most runs. */
#define CRUNNER_HOT 4096u

/* Pages that are given out one after the other. */
struct crunner_large {
    char *start, *next, *mapped, *end;
    int pattern; /* a file of the byte that they hold, or -1: zeros */
    int fill;    /* that byte */
    unsigned runs;
    unsigned char often[CRUNNER_HOT]; /* by page: in how many of the last looks it was written */
    unsigned char hot[CRUNNER_HOT];   /* by page: 1 if it is filled instead of being given back */
};

/* Reserves so many bytes of pages that hold `fill`. Where that cannot be had, nothing is ever
 * taken. */
void crunner_large_open(struct crunner_large *pages, size_t room, int fill);
void crunner_large_close(struct crunner_large *pages);
/* So many bytes from the start of a page on, with room for a header before them; NULL if no more
 * are left. */
void *crunner_large_take(struct crunner_large *pages, size_t size, size_t header);
/* Makes what was written there since fresh again. */
void crunner_large_renew(struct crunner_large *pages, void *block, size_t size);
/* Takes everything back; whether there was anything. */
int crunner_large_empty(struct crunner_large *pages);
int crunner_large_has(const struct crunner_large *pages, const void *block);

#endif
