/* Large heap blocks.
 *
 * A decompressor asks for megabytes at the start of each run and touches a few pages of them: filling all would take ten
 * times as long as the run itself. So the pages of large blocks are mapped: zeros as the system gives them, and any other
 * byte from a file in memory that is mapped privately, again and again, so that a page costs something when it is
 * written first. Giving a page back makes it fresh again.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_large.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What is mapped at a time, and the length of the file. */
#define WINDOW ((size_t)2 << 20)

static size_t whole(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }

/* A file of WINDOW such bytes that nobody can change any more, or -1. */
static int pattern_of(int byte) {
#ifdef MFD_ALLOW_SEALING
    int file = memfd_create("fresh", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    void *at = MAP_FAILED;
    if (!ftruncate(file, (off_t)WINDOW)) at = mmap(NULL, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) {
        memset(at, byte, WINDOW);
        munmap(at, WINDOW);
        if (!fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) return file;
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
    void *at = mmap(NULL, room, fill ? PROT_NONE : PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    if (at == MAP_FAILED) return;
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
        if (mmap(pages->mapped, WINDOW, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, pages->pattern, 0) == MAP_FAILED)
            return NULL;
        pages->mapped += WINDOW;
    }
    pages->next = block + size;
    return block;
}

void crunner_large_renew(void *block, size_t size) {
    madvise(block, whole(size, CRUNNER_PAGE), MADV_DONTNEED);
}

int crunner_large_empty(struct crunner_large *pages) {
    if (pages->next == pages->start) return 0;
    crunner_large_renew(pages->start, (size_t)(pages->next - pages->start));
    pages->next = pages->start;
    return 1;
}

int crunner_large_has(const struct crunner_large *pages, const void *block) {
    return (const char *)block > pages->start && (const char *)block < pages->next;
}
