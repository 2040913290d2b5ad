/* Guarded heap blocks.
 *
 * An access a few bytes past a block of the arena reads or writes the next block, and the run
 * continues unnoticed. AddressSanitizer detects it, but is too slow for every run. From time to
 * time, a run therefore has its blocks in slots of whole pages with an inaccessible page in
 * between: an access past the end faults there, and some freed blocks become inaccessible.
 * (Electric Fence has done so since 1987; GWP-ASan does it for some blocks of a run.)
 *
 * Slots are made accessible when they are first used and stay so for later runs. Making a freed
 * block inaccessible costs two system calls, so each run does this for a few blocks, and the next
 * run for others. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt_guarded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE ((size_t)4096)
#define SMALL 1024u
#define LARGE 64u
/* The number of freed blocks that become inaccessible per run. */
#define CLOSED 4u

static int open_slots(struct crunner_slots *of, size_t room, unsigned count) {
    /* One guard before the first slot, and one after each slot. */
    size_t all = PAGE + count * (room + PAGE);
    void *at = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return 0;
    of->slots = calloc(count, sizeof *of->slots);
    if (!of->slots) {
        munmap(at, all);
        return 0;
    }
    of->start = (char *)at + PAGE;
    of->room = room;
    of->count = count;
    return 1;
}

static void close_slots(struct crunner_slots *of) {
    if (!of->start) return;
    munmap(of->start - PAGE, PAGE + of->count * (of->room + PAGE));
    free(of->slots);
    memset(of, 0, sizeof *of);
}

static char *room_of(const struct crunner_slots *of, size_t number) {
    return of->start + number * (of->room + PAGE);
}

/* The largest alignment that a block of this size can need, since the size of its elements divides
 * its own. */
static size_t alignment_of(size_t size) {
    size_t lowest = size & -size;
    return lowest == 0 || lowest > 16 ? 16 : lowest;
}

void *crunner_guarded_take(struct crunner_guarded *guarded, size_t size, int fill,
                           int at_beginning) {
    if (!guarded->ready)
        guarded->ready = open_slots(&guarded->small, PAGE, SMALL)
                                 && open_slots(&guarded->large, CRUNNER_GUARDED, LARGE)
                             ? 1
                             : -1;
    struct crunner_slots *from = size <= PAGE ? &guarded->small : &guarded->large;
    if (guarded->ready < 0 || size > CRUNNER_GUARDED || from->next == from->count) return NULL;
    struct crunner_slot *slot = &from->slots[from->next];
    char *room = room_of(from, from->next);
    if (slot->state != 1 && mprotect(room, from->room, PROT_READ | PROT_WRITE)) return NULL;
    from->next++;
    slot->state = 1;
    slot->live = 1;
    slot->size = (uint32_t)size;
    size_t whole = (size + alignment_of(size) - 1) / alignment_of(size) * alignment_of(size);
    slot->block = at_beginning ? room : room + from->room - whole;
    return memset(slot->block, fill, size);
}

static struct crunner_slot *slot_in(const struct crunner_slots *of, const char *at) {
    if (!of->start || at < of->start || at >= room_of(of, of->count)) return NULL;
    struct crunner_slot *slot = &of->slots[(size_t)(at - of->start) / (of->room + PAGE)];
    return slot < of->slots + of->next ? slot : NULL;
}

struct crunner_slot *crunner_guarded_slot(struct crunner_guarded *guarded, const void *at) {
    struct crunner_slot *slot = slot_in(&guarded->small, at);
    return slot ? slot : slot_in(&guarded->large, at);
}

void crunner_guarded_give(struct crunner_guarded *guarded, struct crunner_slot *slot) {
    int is_small = slot >= guarded->small.slots
                   && slot < guarded->small.slots + guarded->small.count;
    struct crunner_slots *of = is_small ? &guarded->small : &guarded->large;
    slot->live = 0;
    unsigned stride = guarded->stride ? guarded->stride : 1;
    if (guarded->freed++ % stride != guarded->runs % stride || guarded->freed / stride > CLOSED)
        return;
    if (!mprotect(room_of(of, (size_t)(slot - of->slots)), of->room, PROT_NONE)) slot->state = 2;
}

void crunner_guarded_empty(struct crunner_guarded *guarded) {
    if (!guarded->small.next && !guarded->large.next) return;
    guarded->small.next = guarded->large.next = 0;
    guarded->stride = guarded->freed / CLOSED + 1;
    guarded->freed = 0;
    guarded->runs++;
}

void crunner_guarded_close(struct crunner_guarded *guarded) {
    close_slots(&guarded->small);
    close_slots(&guarded->large);
}
