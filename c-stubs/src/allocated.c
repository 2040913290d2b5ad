/* Functions of the C library that return heap memory. They are stubs both in the engine and
 * natively: natively the program's heap is the runtime's, and a block of the platform's heap must
 * not be passed to the program's free(). */
#include "allocation.h"

size_t strnlen(const char *s, size_t n);

static char *copy(const char *text, size_t n) {
    char *block = crunner_granted_malloc(n + 1);
    if (!block) return 0;
    if (n) memcpy(block, text, n);
    block[n] = 0;
    return block;
}

STUB char *CRUNNER_strdup(const char *text) { return copy(text, strlen(text)); }
STUB char *CRUNNER___strdup(const char *text) { return CRUNNER_strdup(text); }
STUB char *CRUNNER_strndup(const char *text, size_t n) { return copy(text, strnlen(text, n)); }
STUB char *CRUNNER___strndup(const char *text, size_t n) { return CRUNNER_strndup(text, n); }

STUB wchar_t *CRUNNER_wcsdup(const wchar_t *text) {
    size_t n = 0;
    while (text[n]) n++;
    wchar_t *block = crunner_granted_malloc((n + 1) * sizeof *block);
    if (block) memcpy(block, text, (n + 1) * sizeof *block);
    return block;
}

STUB int CRUNNER_vasprintf(char **restrict into, const char *restrict format, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(0, 0, format, args);
    /* On failure, what the pointer holds is left as it was. */
    char *text = n < 0 ? 0 : crunner_granted_malloc((size_t)n + 1);
    if (text) {
        vsnprintf(text, (size_t)n + 1, format, again);
        *into = text;
    }
    va_end(again);
    return text ? n : -1;
}

STUB int CRUNNER_asprintf(char **restrict into, const char *restrict format, ...) {
    va_list args;
    va_start(args, format);
    int n = CRUNNER_vasprintf(into, format, args);
    va_end(args);
    return n;
}
STUB int CRUNNER___vasprintf_chk(char **restrict into, int flag, const char *restrict format,
                                 va_list args) {
    return CRUNNER_vasprintf(into, format, args);
}
STUB int CRUNNER___asprintf_chk(char **restrict into, int flag, const char *restrict format, ...) {
    va_list args;
    va_start(args, format);
    int n = CRUNNER_vasprintf(into, format, args);
    va_end(args);
    return n;
}
