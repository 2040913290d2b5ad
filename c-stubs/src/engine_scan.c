/* sscanf for the engine: applies the scanner of streams to a string. The length of the whole string
 * is determined first, as in glibc. */
#include "engine.h"

/* As in scan.h, whose other declarations are not needed here. */
struct crunner_source {
    void *from;
    const char *text;
    size_t length, taken;
    int assigned;
};
int crunner_scan(struct crunner_source *source, const char *format, va_list args);

int NAME(vsscanf)(const char *restrict text, const char *restrict format, va_list args) {
    struct crunner_source s = {0, text, NAME(strlen)(text), 0, 0};
    return crunner_scan(&s, format, args);
}

#define SSCANF(name) \
    int NAME(name)(const char *restrict text, const char *restrict format, ...) { \
        va_list args; \
        va_start(args, format); \
        int n = NAME(vsscanf)(text, format, args); \
        va_end(args); \
        return n; \
    }
SSCANF(sscanf)
SSCANF(__isoc99_sscanf)
SSCANF(__isoc23_sscanf)
int NAME(__isoc99_vsscanf)(const char *restrict text, const char *restrict format, va_list args) {
    return NAME(vsscanf)(text, format, args);
}
int NAME(__isoc23_vsscanf)(const char *restrict text, const char *restrict format, va_list args) {
    return NAME(vsscanf)(text, format, args);
}
