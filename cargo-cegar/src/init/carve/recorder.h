/* What the wrappers of recorded functions call. */
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
    /* Of a pointer: the size of what it leads to, as far as that is declared; whether that is text;
     * whether it is written. */
    size_t unit;
    int text, written;
};

/* Gives the call's number; 0 for a call that is not recorded. */
unsigned long cegar_recorder_begin(const char *name, const struct cegar_value *values,
                                   size_t count);
void cegar_recorder_end(unsigned long call, const struct cegar_value *values, size_t count,
                        struct cegar_value result);

#endif
