/* The scanner's input: a stream or a string. */
#ifndef CRUNNER_SCAN_H
#define CRUNNER_SCAN_H

#include "stdio_stub.h"

struct crunner_source {
    stream *from;     /* NULL: the string */
    const char *text; /* the next character */
    size_t taken;     /* characters consumed, for %n */
};

int crunner_scan(struct crunner_source *source, const char *format, va_list args);

#endif
