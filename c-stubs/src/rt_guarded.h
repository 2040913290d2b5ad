/* Heap blocks that end, or begin, next to inaccessible memory. See rt_guarded.c. */
#ifndef CRUNNER_RT_GUARDED_H
#define CRUNNER_RT_GUARDED_H

#include <stddef.h>
#include <stdint.h>

/* The size of the largest block that is guarded. */
#define CRUNNER_GUARDED (64u << 10)

struct crunner_slot {
    void *block;
    uint32_t size;
    uint8_t live;  /* allocated in this run and not freed */
    uint8_t state; /* 0: never opened; 1: accessible; 2: inaccessible since its block was freed */
};

/* Slots of one size, each between inaccessible pages. */
struct crunner_slots {
    char *start;
    size_t room;
    unsigned count, next;
    struct crunner_slot *slots;
};

struct crunner_guarded {
    struct crunner_slots small, large;
    int ready;                    /* -1: the slots could not be mapped */
    unsigned runs, freed, stride; /* every `stride`th block that is freed becomes inaccessible */
};

/* Allocates a block of this size, filled with `fill`. It ends where the guard begins, as far as its
 * alignment allows, or begins where the guard ends. NULL if no slot is left. */
void *crunner_guarded_take(struct crunner_guarded *guarded, size_t size, int fill,
                           int at_beginning);
/* The slot of a block; NULL if the block is not guarded. */
struct crunner_slot *crunner_guarded_slot(struct crunner_guarded *guarded, const void *at);
/* Frees the block of a slot, which may become inaccessible. */
void crunner_guarded_give(struct crunner_guarded *guarded, struct crunner_slot *slot);
/* Releases all blocks. */
void crunner_guarded_empty(struct crunner_guarded *guarded);
void crunner_guarded_close(struct crunner_guarded *guarded);

#endif
