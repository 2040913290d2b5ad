/* Heap blocks that end, or begin, where memory may not be touched. See rt_guarded.c. */
#ifndef CRUNNER_RT_GUARDED_H
#define CRUNNER_RT_GUARDED_H

#include <stddef.h>
#include <stdint.h>

/* The longest block that is guarded. */
#define CRUNNER_GUARDED (64u << 10)

struct crunner_slot {
    void *block;
    uint32_t size;
    uint8_t live;  /* in this run, and not freed */
    uint8_t state; /* 0: never opened; 1: open; 2: closed since a block there was freed */
};

/* Slots of one size, each between pages that may not be touched. */
struct crunner_slots {
    char *start;
    size_t room;
    unsigned count, next;
    struct crunner_slot *slots;
};

struct crunner_guarded {
    struct crunner_slots small, large;
    int ready;                    /* -1: it cannot be had */
    unsigned runs, freed, stride; /* of the blocks that a run frees, one in `stride` is closed */
};

/* A block of so many bytes, all of them `fill`: its end where the guard begins, as far as its
 * alignment allows, or its beginning where the guard ends. NULL where there is none left. */
void *crunner_guarded_take(struct crunner_guarded *guarded, size_t size, int fill,
                           int at_beginning);
/* The slot of a block, or NULL: it is no guarded one. */
struct crunner_slot *crunner_guarded_slot(struct crunner_guarded *guarded, const void *at);
/* Frees the block of a slot. Some may not be touched any more. */
void crunner_guarded_give(struct crunner_guarded *guarded, struct crunner_slot *slot);
/* Gives everything back. */
void crunner_guarded_empty(struct crunner_guarded *guarded);
void crunner_guarded_close(struct crunner_guarded *guarded);

#endif
