/* The interface that the wrappers of recorded functions call. */
#ifndef CEGAR_RECORDER_H
#define CEGAR_RECORDER_H
#include <stddef.h>
#include <stdint.h>

enum {
    CEGAR_INT = 'i',
    CEGAR_FLOAT = 'd',
    CEGAR_POINTER = 'p',
    CEGAR_CODE = 'f',
    CEGAR_NOTHING = 'v'
};

struct cegar_value {
    int kind;
    uint64_t bits;
    /* For a pointer: the size of its target type (0 if unknown), whether the target is text, and
     * whether it may be written. */
    size_t unit;
    int text, written;
};

/* Returns the call's number, or 0 if it is not recorded. */
unsigned long cegar_recorder_begin(const char *name, const struct cegar_value *values,
                                   size_t count);
void cegar_recorder_end(unsigned long call, const struct cegar_value *values, size_t count,
                        struct cegar_value result);

#endif
