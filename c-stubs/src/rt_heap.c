/* The program's heap.
 *
 * A run may end anywhere, by a jump out of the program, and the next one needs an empty heap at
 * once. The heap is therefore a separate arena, which is emptied by resetting a pointer. Blocks are
 * reused by size class, only within a run. The header before each block contains a tag derived from
 * its address; a free() of anything else, or a double free, is detected and reported as a
 * violation. Fresh memory contains 0xAA, as in the engine's machine. Large blocks, of which a short
 * run touches little, are mapped with this content instead of being filled (rt_large.c). A driver
 * that knows which pages a run wrote may lend memory that it keeps fresh itself; medium-sized
 * blocks are taken from it without filling them.
 *
 * Under AddressSanitizer, an arena would hide every overflow. There each block is a separate
 * allocation, and a table records the live blocks; AddressSanitizer reports misuse. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_heap.h"
#include "crunner_rt.h"
#include "rt_guarded.h"
#include "rt_large.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#define UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNDER_ASAN 1
#endif
#endif
#ifndef UNDER_ASAN
#define UNDER_ASAN 0
#endif

#define FRESH 0xAA
#define DEFAULT_LIVE (256ull << 20)

struct limits {
    uint64_t most, live, peak;
};

/* Arrays from outside of unknown length. Each one ends where inaccessible memory begins, so that a
 * run that accesses memory past the end stops there. crunner_is_past_row() distinguishes this from
 * a fault of the program. */
#define ROWS 64u
#define ROW_ROOM (64u << 10)
#define ROW_GUARD (192u << 10)
#define ROW_STRIDE (ROW_ROOM + ROW_GUARD)

struct rows {
    char *start;
    unsigned next, open; /* the number of arrays in use, and of those that are accessible */
};

static void *row(struct rows *rows, size_t size) {
    size = (size + 15) & ~(size_t)15;
    if (size > ROW_ROOM || rows->next == ROWS) return NULL;
    if (!rows->start) {
        void *at = mmap(NULL, (size_t)ROWS * ROW_STRIDE, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) return NULL;
        rows->start = at;
    }
    char *room = rows->start + (size_t)rows->next * ROW_STRIDE;
    if (rows->next == rows->open) {
        if (mprotect(room, ROW_ROOM, PROT_READ | PROT_WRITE)) return NULL;
        rows->open++;
    }
    rows->next++;
    return memset(room + ROW_ROOM - size, 0, size);
}

static int in_rows(const struct rows *rows, const void *at) {
    return rows->start && (const char *)at >= rows->start
           && (const char *)at < rows->start + (size_t)ROWS * ROW_STRIDE;
}

static void close_rows(struct rows *rows) {
    if (rows->start) munmap(rows->start, (size_t)ROWS * ROW_STRIDE);
}

static void count(struct limits *of, uint64_t more) {
    of->live += more;
    if (of->live > of->peak) of->peak = of->live;
    if (of->live > of->most) crunner_heap_exhausted();
}

#if UNDER_ASAN

void __asan_poison_memory_region(const volatile void *start, size_t size);

struct entry {
    void *block; /* NULL: never used; TOMB: no longer used */
    size_t size;
};
#define TOMB ((void *)1)

struct crunner_heap {
    struct limits limits;
    struct rows rows;
    struct entry *table;
    size_t slots, used; /* slots is a power of two */
};

static struct crunner_heap *heap;

static size_t slot_of(const struct crunner_heap *h, const void *block) {
    return (size_t)(((uintptr_t)block >> 4) * 0x9E3779B97F4A7C15ull >> 20) & (h->slots - 1);
}

static struct entry *find(struct crunner_heap *h, const void *block) {
    if (!h->slots) return NULL;
    for (size_t at = slot_of(h, block);; at = (at + 1) & (h->slots - 1)) {
        if (h->table[at].block == block) return &h->table[at];
        if (!h->table[at].block) return NULL;
    }
}

static void put(struct crunner_heap *h, void *block, size_t size) {
    size_t at = slot_of(h, block);
    while (h->table[at].block) at = (at + 1) & (h->slots - 1);
    h->table[at].block = block;
    h->table[at].size = size;
    h->used++;
}

static int grow(struct crunner_heap *h) {
    struct crunner_heap bigger = *h;
    if (h->slots && h->used < h->slots / 2) return 1;
    bigger.slots = h->slots ? h->slots * 2 : 1024;
    bigger.used = 0;
    bigger.table = calloc(bigger.slots, sizeof *bigger.table);
    if (!bigger.table) return 0;
    for (size_t i = 0; i < h->slots; i++)
        if (h->table[i].block && h->table[i].block != TOMB)
            put(&bigger, h->table[i].block, h->table[i].size);
    free(h->table);
    *h = bigger;
    return 1;
}

static void *take(size_t size, size_t alignment, int fill) {
    void *block = NULL;
    if (size > CRUNNER_LONGEST_BLOCK || !grow(heap)) {
        errno = ENOMEM;
        return NULL;
    }
    count(&heap->limits, size);
    if (alignment <= 16) block = malloc(size);
    else if (posix_memalign(&block, alignment, size)) block = NULL;
    if (!block) crunner_heap_exhausted();
    memset(block, fill, size);
    /* AddressSanitizer allocates one byte for a size of 0, and lets the program access it. */
    if (!size) __asan_poison_memory_region(block, 1);
    put(heap, block, size);
    return block;
}

static void give(void *block) {
    struct entry *at = find(heap, block);
    if (at) {
        heap->limits.live -= at->size;
        at->block = TOMB;
    }
    free(block); /* AddressSanitizer reports blocks that are not in the table */
}

static size_t size_of(void *block) {
    struct entry *at = find(heap, block);
    return at ? at->size : 0;
}

struct crunner_heap *crunner_heap_new(uint64_t live) {
    struct crunner_heap *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    h->limits.most = live ? live : DEFAULT_LIVE;
    return h;
}

void crunner_heap_lend(struct crunner_heap *h, void *start, size_t size) {
    (void)h, (void)start, (void)size; /* every block is a separate allocation */
}

void crunner_heap_guard(struct crunner_heap *h, unsigned guard) { (void)h, (void)guard; }

void crunner_heap_end(struct crunner_heap *h) {
    if (!h->used) return;
    for (size_t i = 0; i < h->slots; i++)
        if (h->table[i].block && h->table[i].block != TOMB) free(h->table[i].block);
    memset(h->table, 0, h->slots * sizeof *h->table);
    h->used = 0;
}

void crunner_heap_delete(struct crunner_heap *h) {
    if (!h) return;
    crunner_heap_end(h);
    close_rows(&h->rows);
    free(h->table);
    free(h);
}

#else /* the arena */

struct header {
    union {
        uint64_t size;       /* while live */
        struct header *next; /* while free */
    };
    uint32_t tag;
    uint32_t class;
};

#define CLASSES 160
#define SMALL 65            /* classes 0..64 are 16-byte steps up to 1024 */
#define ODD CLASSES         /* an over-aligned block: not reused */
#define LARGE (CLASSES + 1) /* and above: a large block of class - LARGE */
#define KEEP_TOUCHED (16u << 20)
/* From this size on, a block is taken from the lent memory. For smaller blocks, filling is no
 * slower than the driver's detection of writes. */
#define MIDDLE (16u << 10)

struct crunner_heap {
    struct limits limits;
    struct rows rows;
    char *start, *next, *end;
    struct {
        char *start, *next, *end;
    } lent; /* memory that the driver keeps fresh */
    struct header *free[CLASSES];
    struct large {
        struct crunner_large pages;
        struct header *free[CLASSES];
    } fresh, zero;
    unsigned guard;
    struct crunner_guarded guarded;
};

static struct crunner_heap *heap;

static uint32_t tag(const struct header *h, uint32_t salt) {
    return (uint32_t)((uintptr_t)h >> 4) * 2654435761u ^ salt;
}
#define LIVE 0x6c697665u
#define DEAD 0x64656164u

static uint32_t class_of(size_t size, size_t *room) {
    uint32_t class = SMALL;
    size_t base = 1024;
    if (size <= 1024) {
        class = (uint32_t)((size + 15) / 16);
        *room = class ? (size_t)class * 16 : 16;
        return class;
    }
    while (base * 2 < size) {
        base *= 2;
        class += 4;
    }
    uint32_t quarter = (uint32_t)((size - base + base / 4 - 1) / (base / 4));
    *room = base + base / 4 * quarter;
    return class + quarter - 1;
}

static void *alive(struct header *h, uint32_t class, size_t size) {
    h->class = class;
    h->size = size;
    h->tag = tag(h, LIVE);
    return h + 1;
}

static void *bump(size_t room, size_t alignment, uint32_t class, size_t size) {
    uintptr_t block = ((uintptr_t)heap->next + sizeof(struct header) + alignment - 1)
                      & ~(uintptr_t)(alignment - 1);
    if (block + room > (uintptr_t)heap->end || block < (uintptr_t)heap->next)
        crunner_heap_exhausted();
    heap->next = (char *)block + room;
    return alive((struct header *)block - 1, class, size);
}

/* Takes a block from the memory that the driver keeps fresh, or returns NULL. */
static void *take_lent(size_t size, size_t room, uint32_t class) {
    struct header *h = (struct header *)heap->lent.next;
    if ((size_t)(heap->lent.end - heap->lent.next) < sizeof *h + room) return NULL;
    heap->lent.next += sizeof *h + room;
    return alive(h, class, size);
}

static void *reuse(struct header **list, size_t size) {
    struct header *h = *list;
    if (h->tag != tag(h, DEAD))
        crunner_violation(CRUNNER_HEAP, "the header of a freed heap block was overwritten", NULL,
                          0);
    *list = h->next;
    return alive(h, h->class, size);
}

/* Takes a block that needs no filling because its pages have the right content, or returns NULL. A
 * freed block is made fresh here and not when it is freed, since most programs free their blocks
 * and end, and then all pages are made fresh at once. */
static void *take_large(size_t size, size_t room, uint32_t class, int fill) {
    struct large *from = fill ? &heap->fresh : &heap->zero;
    if (from->free[class]) {
        void *again = reuse(&from->free[class], size);
        crunner_large_renew(&from->pages, again, room);
        return again;
    }
    void *block = crunner_large_take(&from->pages, room, sizeof(struct header));
    return block ? alive((struct header *)block - 1, LARGE + class, size) : NULL;
}

static void *take(size_t size, size_t alignment, int fill) {
    size_t room;
    void *block;
    if (size > CRUNNER_LONGEST_BLOCK) {
        errno = ENOMEM;
        return NULL;
    }
    count(&heap->limits, size);
    if (heap->guard && alignment <= 16
        && (block = crunner_guarded_take(&heap->guarded, size, fill,
                                         heap->guard == CRUNNER_BEGINNINGS)))
        return block;
    uint32_t class = class_of(size, &room);
    if (size >= CRUNNER_LARGE && alignment <= CRUNNER_PAGE && class < CLASSES
        && (block = take_large(size, room, class, fill)))
        return block;
    if (alignment > 16 || class >= CLASSES) {
        block = bump((size + 15) & ~(size_t)15, alignment > 16 ? alignment : 16, ODD, size);
    } else if (heap->free[class]) {
        block = reuse(&heap->free[class], size);
    } else if (fill == FRESH && size >= MIDDLE && (block = take_lent(size, room, class))) {
        return block;
    } else {
        block = bump(room, 16, class, size);
    }
    memset(block, fill, size);
    return block;
}

/* The header of a live block; anything else ends the run. */
static struct header *header_of(void *block, const char *dead, const char *bad) {
    struct header *h = (struct header *)block - 1;
    int ours = ((char *)block >= heap->start + sizeof *h && (char *)block <= heap->next)
               || ((char *)block > heap->lent.start && (char *)block < heap->lent.next);
    if ((uintptr_t)block % 16
        || !(ours || crunner_large_has(&heap->fresh.pages, block)
             || crunner_large_has(&heap->zero.pages, block)))
        crunner_violation(CRUNNER_HEAP, bad, NULL, 0);
    if (h->tag == tag(h, DEAD)) crunner_violation(CRUNNER_HEAP, dead, NULL, 0);
    if (h->tag != tag(h, LIVE)) crunner_violation(CRUNNER_HEAP, bad, NULL, 0);
    return h;
}

/* The slot of a live guarded block, or NULL for a block of the arena; anything else ends the
 * run. */
static struct crunner_slot *slot_of(void *block, const char *dead, const char *bad) {
    struct crunner_slot *slot = heap->guard ? crunner_guarded_slot(&heap->guarded, block) : NULL;
    if (slot && slot->block != block) crunner_violation(CRUNNER_HEAP, bad, NULL, 0);
    if (slot && !slot->live) crunner_violation(CRUNNER_HEAP, dead, NULL, 0);
    return slot;
}

static void give(void *block) {
    struct crunner_slot *slot = slot_of(block, "double free", "free of what is no live heap block");
    if (slot) {
        heap->limits.live -= slot->size;
        crunner_guarded_give(&heap->guarded, slot);
        return;
    }
    struct header *h = header_of(block, "double free", "free of what is no live heap block");
    size_t size = h->size;
    struct header **list;
    heap->limits.live -= size;
    h->tag = tag(h, DEAD);
    if (h->class == ODD) return;
    if (h->class > ODD) {
        size_t room;
        if (class_of(size, &room) + LARGE != h->class)
            crunner_violation(CRUNNER_HEAP, "the header of a heap block was overwritten", NULL, 0);
        struct large *of = crunner_large_has(&heap->zero.pages, block) ? &heap->zero : &heap->fresh;
        list = &of->free[h->class - LARGE];
    } else {
        list = &heap->free[h->class];
    }
    h->next = *list;
    *list = h;
}

static size_t size_of(void *block) {
    static const char dead[] = "realloc of a freed block",
                      bad[] = "realloc of what is no live heap block";
    struct crunner_slot *slot = slot_of(block, dead, bad);
    return slot ? slot->size : header_of(block, dead, bad)->size;
}

struct crunner_heap *crunner_heap_new(uint64_t live) {
    struct crunner_heap *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    h->limits.most = live ? live : DEFAULT_LIVE;
    /* Four times the limit on live bytes, because of rounding and of freed blocks; untouched pages
     * cost nothing. */
    for (uint64_t room = h->limits.most * 4; room >= (1u << 20); room /= 2) {
        void *at = mmap(NULL, room, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED) continue;
        h->start = h->next = at;
        h->end = h->start + room;
        /* Without these pages, large blocks are filled like all others. */
        crunner_large_open(&h->fresh.pages, h->limits.most, FRESH);
        crunner_large_open(&h->zero.pages, h->limits.most, 0);
        return h;
    }
    free(h);
    return NULL;
}

static void empty(struct large *large) {
    if (crunner_large_empty(&large->pages)) memset(large->free, 0, sizeof large->free);
}

void crunner_heap_end(struct crunner_heap *h) {
    if ((size_t)(h->next - h->start) > KEEP_TOUCHED)
        madvise(h->start + KEEP_TOUCHED, (size_t)(h->next - h->start) - KEEP_TOUCHED,
                MADV_DONTNEED);
    if (h->next != h->start || h->lent.next != h->lent.start) memset(h->free, 0, sizeof h->free);
    h->next = h->start;
    h->lent.next = h->lent.start;
    empty(&h->fresh);
    empty(&h->zero);
    crunner_guarded_empty(&h->guarded);
}

void crunner_heap_guard(struct crunner_heap *h, unsigned guard) { h->guard = guard; }

void crunner_heap_lend(struct crunner_heap *h, void *start, size_t size) {
    h->lent.start = h->lent.next = start;
    h->lent.end = h->lent.start + size;
}

void crunner_heap_delete(struct crunner_heap *h) {
    if (!h) return;
    close_rows(&h->rows);
    crunner_large_close(&h->fresh.pages);
    crunner_large_close(&h->zero.pages);
    crunner_guarded_close(&h->guarded);
    munmap(h->start, (size_t)(h->end - h->start));
    free(h);
}

#endif

void crunner_heap_begin(struct crunner_heap *h) {
    heap = h;
    h->rows.next = 0;
    crunner_heap_end(h);
    h->limits.live = h->limits.peak = 0;
}

uint64_t crunner_heap_live(const struct crunner_heap *h) { return h->limits.live; }
uint64_t crunner_heap_peak(const struct crunner_heap *h) { return h->limits.peak; }

int crunner_is_past_row(const struct crunner_heap *h, uint64_t address) {
    const char *at = (const char *)(uintptr_t)address;
    return h && in_rows(&h->rows, at) && (size_t)(at - h->rows.start) % ROW_STRIDE >= ROW_ROOM;
}

void *crunner_row(size_t size) {
    void *block = row(&heap->rows, size);
    return block ? block : crunner_calloc(1, size);
}

void *crunner_malloc(size_t size) { return take(size, 16, FRESH); }

void *crunner_calloc(size_t n, size_t size) {
    size_t all;
    if (__builtin_mul_overflow(n, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return take(all, 16, 0);
}

/* Always moves the block, so that old pointers to it become dangling. */
void *crunner_realloc(void *block, size_t size) {
    if (!block) return crunner_malloc(size);
    size_t had = size_of(block);
    if (!size) {
        give(block);
        return NULL;
    }
    void *moved = crunner_malloc(size);
    if (!moved) return NULL;
    memcpy(moved, block, had < size ? had : size);
    give(block);
    return moved;
}

void *crunner_reallocarray(void *block, size_t n, size_t size) {
    size_t all;
    if (__builtin_mul_overflow(n, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return crunner_realloc(block, all);
}

void crunner_free(void *block) {
    if (block && !in_rows(&heap->rows, block)) give(block);
}

static int power_of_two(size_t n) { return n && !(n & (n - 1)); }

void *crunner_aligned_alloc(size_t alignment, size_t size) {
    if (!power_of_two(alignment) || alignment > (1u << 20)) {
        errno = EINVAL;
        return NULL;
    }
    return take(size, alignment, FRESH);
}

void *crunner_memalign(size_t alignment, size_t size) {
    return crunner_aligned_alloc(alignment, size);
}
void *crunner_valloc(size_t size) { return crunner_aligned_alloc(4096, size); }

int crunner_posix_memalign(void **into, size_t alignment, size_t size) {
    if (!power_of_two(alignment) || alignment < sizeof(void *) || alignment > (1u << 20))
        return EINVAL;
    void *block = take(size, alignment, FRESH);
    if (!block) return ENOMEM;
    *into = block;
    return 0;
}

size_t crunner_malloc_usable_size(void *block) { return block ? size_of(block) : 0; }
