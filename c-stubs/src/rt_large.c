/* Large heap blocks.
 *
 * A decompressor allocates megabytes at the start of each run and touches a few pages of them;
 * filling all pages would take ten times as long as the run. The pages of large blocks are
 * therefore mapped: zero pages come from the system, and pages of another byte come from a file in
 * memory that is mapped privately and repeatedly. A page then costs something only when it is first
 * written, and discarding a page makes it fresh again.
 *
 * Discarding costs a page fault for each page that the next run writes, ten times as much as
 * filling the page. Pages that most runs write are therefore filled; a comparison in some of the
 * runs determines which pages these are. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_large.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The size of a mapping, and the length of the file. */
#define WINDOW ((size_t)2 << 20)
/* The interval in runs between comparisons, after those at 1, 2, 4, ... runs. */
#define SELDOM 1024u
/* A page is filled once its score reaches FILLED. The score rises with each comparison that finds
 * the page written, up to COUNTED, and falls otherwise. */
#define FILLED 3
#define COUNTED 6
#define ENDED 1
#define FREED 2
/* The maximal number of ranges of adjacent filled pages, since each gap between them costs a system
 * call. */
#define ROWS 16u

static size_t whole(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }

/* Creates a file of WINDOW bytes with this value that cannot be changed any more; -1 on failure. */
static int pattern_of(int byte) {
#ifdef MFD_ALLOW_SEALING
    int file = memfd_create("fresh", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    void *at = MAP_FAILED;
    if (!ftruncate(file, (off_t)WINDOW))
        at = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) {
        memset(at, byte, WINDOW);
        munmap(at, WINDOW);
        if (!fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
            return file;
    }
    close(file);
#else
    (void)byte;
#endif
    return -1;
}

void crunner_large_open(struct crunner_large *pages, size_t room, int fill) {
    memset(pages, 0, sizeof *pages);
    pages->pattern = -1;
    if (fill && (pages->pattern = pattern_of(fill)) < 0) return;
    room = whole(room, WINDOW);
    void *at = mmap(NULL, room, fill ? PROT_NONE : PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return;
    pages->fill = fill;
    pages->start = pages->next = pages->mapped = at;
    pages->end = pages->start + room;
    if (!fill) pages->mapped = pages->end;
}

void crunner_large_close(struct crunner_large *pages) {
    if (pages->start) munmap(pages->start, (size_t)(pages->end - pages->start));
    if (pages->pattern >= 0) close(pages->pattern);
    memset(pages, 0, sizeof *pages);
    pages->pattern = -1;
}

void *crunner_large_take(struct crunner_large *pages, size_t size, size_t header) {
    size_t before = whole(header, CRUNNER_PAGE), left = (size_t)(pages->end - pages->next);
    size = whole(size, CRUNNER_PAGE);
    if (size > left || before > left - size) return NULL;
    char *block = pages->next + before;
    while (pages->mapped < block + size) {
        if (mmap(pages->mapped, WINDOW, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
                 pages->pattern, 0)
            == MAP_FAILED)
            return NULL;
        pages->mapped += WINDOW;
    }
    pages->next = block + size;
    return block;
}

static int is_fresh(const char *page, int fill) {
    return page[0] == (char)fill && !memcmp(page, page + 1, CRUNNER_PAGE - 1);
}

/* Compares these pages with fresh ones. The score of a written page rises by `more`, and that of an
 * unwritten page falls by one at the end of a run. Pages that are discarded during a run are
 * compared again when it ends, and look unwritten then. */
static void look(struct crunner_large *pages, size_t first, size_t last, unsigned char more) {
    unsigned rows = 0;
    if (last > CRUNNER_HOT) last = CRUNNER_HOT;
    for (size_t i = 0; i < CRUNNER_HOT; i++) rows += pages->hot[i] && (!i || !pages->hot[i - 1]);
    for (size_t i = first; i < last; i++) {
        unsigned char *often = &pages->often[i];
        int written = !is_fresh(pages->start + i * CRUNNER_PAGE, pages->fill);
        if (written) *often = (unsigned char)(*often + more < COUNTED ? *often + more : COUNTED);
        else if (*often && more == ENDED) --*often;
        if (*often < FILLED) {
            pages->hot[i] = 0;
        } else if (!pages->hot[i]) {
            int joins = i && pages->hot[i - 1];
            if (!joins && rows == ROWS) continue;
            rows += !joins;
            pages->hot[i] = 1;
        }
    }
}

static int looks(const struct crunner_large *pages) {
    unsigned runs = pages->runs;
    return runs && (runs % SELDOM == 0 || (runs < SELDOM && !(runs & (runs - 1))));
}

static void renew(struct crunner_large *pages, void *block, size_t size, unsigned char more) {
    size_t at = (size_t)((char *)block - pages->start) / CRUNNER_PAGE,
           end = at + whole(size, CRUNNER_PAGE) / CRUNNER_PAGE;
    if (looks(pages)) look(pages, at, end, more);
    while (at < end) {
        size_t limit = end < CRUNNER_HOT ? end : CRUNNER_HOT;
        const unsigned char *hot = at < limit ? memchr(pages->hot + at, 1, limit - at) : NULL;
        size_t next = hot ? (size_t)(hot - pages->hot) : end;
        if (next > at)
            madvise(pages->start + at * CRUNNER_PAGE, (next - at) * CRUNNER_PAGE, MADV_DONTNEED);
        for (at = next; at < limit && pages->hot[at]; at++)
            memset(pages->start + at * CRUNNER_PAGE, pages->fill, CRUNNER_PAGE);
    }
}

void crunner_large_renew(struct crunner_large *pages, void *block, size_t size) {
    renew(pages, block, size, FREED);
}

int crunner_large_empty(struct crunner_large *pages) {
    if (pages->next == pages->start) return 0;
    renew(pages, pages->start, (size_t)(pages->next - pages->start), ENDED);
    pages->next = pages->start;
    pages->runs++;
    return 1;
}

int crunner_large_has(const struct crunner_large *pages, const void *block) {
    return (const char *)block > pages->start && (const char *)block < pages->next;
}
