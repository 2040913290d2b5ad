/* The scanner's input: a stream or a string. */
#ifndef CRUNNER_SCAN_H
#define CRUNNER_SCAN_H

#include "stdio_stub.h"

struct crunner_source {
    stream *from; /* NULL: the source is the string */
    const char *text;
    size_t length; /* of the string */
    size_t taken;  /* characters consumed, for %n */
    int assigned;  /* the value that scanf returns so far */
};

/* A conversion of a format. normalise/formats constructs it too. */
struct crunner_conversion {
    long width; /* 0: none given */
    int size, suppress, allocate, conversion;
    unsigned char set[32]; /* of %[...], one bit per character */
};

/* The parts of a format, in order. Each function returns whether scanf continues with the next
 * part. */
int crunner_scan_blank(struct crunner_source *source);
int crunner_scan_character(struct crunner_source *source, int c);
int crunner_scan_integer(struct crunner_source *source, const struct crunner_conversion *what,
                         void *to);
int crunner_scan_real(struct crunner_source *source, const struct crunner_conversion *what,
                      void *to);
int crunner_scan_text(struct crunner_source *source, const struct crunner_conversion *what,
                      void *to);
int crunner_scan_count(struct crunner_source *source, const struct crunner_conversion *what,
                       void *to);

int crunner_scan(struct crunner_source *source, const char *format, va_list args);

#endif
