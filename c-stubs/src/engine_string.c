/* <string.h>: measuring, copying and comparing strings. A string to be copied is measured first and
 * then copied as a block: proofs know more about a copy than about a loop, and overlapping ranges
 * are an error, as for memcpy. */
#include "engine.h"

size_t NAME(strlen)(const char *s) {
    size_t n = 0;
    while (s[n]) n++;
    return n;
}

size_t NAME(strnlen)(const char *s, size_t most) {
    size_t n = 0;
    while (n < most && s[n]) n++;
    return n;
}

char *NAME(stpcpy)(char *restrict to, const char *restrict from) {
    size_t n = NAME(strlen)(from);
    __builtin_memcpy(to, from, n + 1);
    return to + n;
}

char *NAME(strcpy)(char *restrict to, const char *restrict from) {
    NAME(stpcpy)(to, from);
    return to;
}

char *NAME(stpncpy)(char *restrict to, const char *restrict from, size_t n) {
    size_t length = NAME(strnlen)(from, n);
    __builtin_memcpy(to, from, length);
    __builtin_memset(to + length, 0, n - length);
    return to + length;
}

char *NAME(strncpy)(char *restrict to, const char *restrict from, size_t n) {
    NAME(stpncpy)(to, from, n);
    return to;
}

char *NAME(strcat)(char *restrict to, const char *restrict from) {
    NAME(stpcpy)(to + NAME(strlen)(to), from);
    return to;
}

char *NAME(strncat)(char *restrict to, const char *restrict from, size_t n) {
    char *end = to + NAME(strlen)(to);
    size_t length = NAME(strnlen)(from, n);
    __builtin_memcpy(end, from, length);
    end[length] = 0;
    return to;
}

size_t NAME(strlcpy)(char *restrict to, const char *restrict from, size_t room) {
    size_t n = NAME(strlen)(from), copied = n < room ? n : room - 1;
    if (!room) return n;
    __builtin_memcpy(to, from, copied);
    to[copied] = 0;
    return n;
}

size_t NAME(strlcat)(char *restrict to, const char *restrict from, size_t room) {
    size_t n = NAME(strnlen)(to, room);
    if (n == room) return room + NAME(strlen)(from);
    return n + NAME(strlcpy)(to + n, from, room - n);
}

int NAME(strcmp)(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return engine_of_sign((unsigned char)*a - (unsigned char)*b);
}
int NAME(strcoll)(const char *a, const char *b) { return NAME(strcmp)(a, b); }

int NAME(strncmp)(const char *a, const char *b, size_t n) {
    for (; n > 0; n--, a++, b++)
        if (!*a || *a != *b) return engine_of_sign((unsigned char)*a - (unsigned char)*b);
    return 0;
}

int NAME(strncasecmp)(const char *a, const char *b, size_t n) {
    for (; n > 0; n--, a++, b++) {
        int x = engine_to_lower((unsigned char)*a), y = engine_to_lower((unsigned char)*b);
        if (!x || x != y) return engine_of_sign(x - y);
    }
    return 0;
}
int NAME(strcasecmp)(const char *a, const char *b) { return NAME(strncasecmp)(a, b, SIZE_MAX); }

size_t NAME(strxfrm)(char *restrict to, const char *restrict from, size_t n) {
    size_t length = NAME(strlen)(from);
    if (n > length) NAME(strcpy)(to, from);
    else if (n) NAME(strncpy)(to, from, n);
    return length;
}

/* What _FORTIFY_SOURCE calls instead of the functions above. */
static void fits(size_t needed, size_t room) {
    if (needed > room) crunner_violation(1, "buffer overflow detected", 0, 0);
}
char *NAME(__strcpy_chk)(char *restrict to, const char *restrict from, size_t room) {
    fits(NAME(strlen)(from) + 1, room);
    return NAME(strcpy)(to, from);
}
char *NAME(__stpcpy_chk)(char *restrict to, const char *restrict from, size_t room) {
    fits(NAME(strlen)(from) + 1, room);
    return NAME(stpcpy)(to, from);
}
char *NAME(__strncpy_chk)(char *restrict to, const char *restrict from, size_t n, size_t room) {
    fits(n, room);
    return NAME(strncpy)(to, from, n);
}
char *NAME(__stpncpy_chk)(char *restrict to, const char *restrict from, size_t n, size_t room) {
    fits(n, room);
    return NAME(stpncpy)(to, from, n);
}
char *NAME(__strcat_chk)(char *restrict to, const char *restrict from, size_t room) {
    fits(NAME(strlen)(to) + NAME(strlen)(from) + 1, room);
    return NAME(strcat)(to, from);
}
char *NAME(__strncat_chk)(char *restrict to, const char *restrict from, size_t n, size_t room) {
    fits(NAME(strlen)(to) + NAME(strnlen)(from, n) + 1, room);
    return NAME(strncat)(to, from, n);
}
