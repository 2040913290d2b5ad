/* Functions of the C library whose arguments AddressSanitizer does not check.
 *
 * It intercepts strtol but not strtoul, strcpy but not stpncpy. An access outside a block within
 * such a function would not end the run, and a test that should fail would pass. Generated tests
 * call these functions instead. Each lets the sanitizer check what the C standard says that the
 * function reads and writes, and then calls the platform's function. Without the sanitizer, they
 * read the bytes to be checked one by one, and leave writes to the function. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* The sanitizer's own checks, which do not exist without it. */
extern void __asan_loadN(const void *at, size_t n) __attribute__((weak));
extern void __asan_storeN(void *at, size_t n) __attribute__((weak));

static void reads(const void *at, size_t n) {
    if (!n) return;
    if (__asan_loadN) {
        __asan_loadN(at, n);
        return;
    }
    for (size_t i = 0; i < n; i++) (void)((const volatile char *)at)[i];
}

static void writes(void *at, size_t n) {
    if (n && __asan_storeN) __asan_storeN(at, n);
}

/* The length of a string of at most n elements. Each element is checked before it is read. */
static size_t text(const char *s, size_t n) {
    size_t i = 0;
    for (; i < n; i++) {
        reads(s + i, 1);
        if (!s[i]) break;
    }
    return i;
}

static size_t wide_text(const wchar_t *s, size_t n) {
    size_t i = 0;
    for (; i < n; i++) {
        reads(s + i, sizeof *s);
        if (!s[i]) break;
    }
    return i;
}

/* Checks the text of a number. It ends at the first character that does not belong to it, which is
 * read too. Without a number, it is unspecified how far a function reads after the spaces; one
 * character is assumed. */
static void number(const char *s, const char *end) {
    if (end == s)
        while (*s == ' ' || (*s >= '\t' && *s <= '\r')) reads(s++, 1), end = s;
    reads(s, (size_t)(end - s) + 1);
}

#define NUMBER(type, name) \
    type crunner_watched_##name(const char *s, char **end, int base) { \
        char *stop; \
        text(s, 1); \
        type v = name(s, &stop, base); \
        number(s, stop); \
        if (end) *end = stop; \
        return v; \
    }
#define REAL(type, name) \
    type crunner_watched_##name(const char *s, char **end) { \
        char *stop; \
        text(s, 1); \
        type v = name(s, &stop); \
        number(s, stop); \
        if (end) *end = stop; \
        return v; \
    }
NUMBER(unsigned long, strtoul)
NUMBER(unsigned long long, strtoull)
NUMBER(unsigned long long, strtouq)
NUMBER(uintmax_t, strtoumax)
REAL(double, strtod)
REAL(float, strtof)
REAL(long double, strtold)

/* The names that the headers of newer C libraries use. */
unsigned long crunner_watched___isoc23_strtoul(const char *s, char **end, int base) {
    return crunner_watched_strtoul(s, end, base);
}
unsigned long long crunner_watched___isoc23_strtoull(const char *s, char **end, int base) {
    return crunner_watched_strtoull(s, end, base);
}
uintmax_t crunner_watched___isoc23_strtoumax(const char *s, char **end, int base) {
    return crunner_watched_strtoumax(s, end, base);
}
double crunner_watched_atof(const char *s) { return crunner_watched_strtod(s, NULL); }

void *crunner_watched_memccpy(void *restrict to, const void *restrict from, int c, size_t n) {
    const unsigned char *bytes = from;
    size_t taken = 0;
    while (taken < n) {
        reads(bytes + taken, 1);
        if (bytes[taken++] == (unsigned char)c) break;
    }
    writes(to, taken);
    return memccpy(to, from, c, n);
}

char *crunner_watched_stpcpy(char *restrict to, const char *restrict from) {
    writes(to, text(from, SIZE_MAX) + 1);
    return stpcpy(to, from);
}

char *crunner_watched_stpncpy(char *restrict to, const char *restrict from, size_t n) {
    text(from, n);
    writes(to, n);
    return stpncpy(to, from, n);
}

char *crunner_watched_strsep(char **restrict at, const char *restrict between) {
    text(between, SIZE_MAX);
    reads(at, sizeof *at);
    char *s = *at;
    for (size_t i = 0; s; i++) {
        reads(s + i, 1);
        if (!s[i]) break;
        if (strchr(between, s[i])) {
            writes(s + i, 1);
            break;
        }
    }
    return strsep(at, between);
}

void crunner_watched_swab(const void *restrict from, void *restrict to, ssize_t n) {
    if (n > 1) reads(from, (size_t)n & ~(size_t)1), writes(to, (size_t)n & ~(size_t)1);
    swab(from, to, n);
}

wchar_t *crunner_watched_wcscpy(wchar_t *restrict to, const wchar_t *restrict from) {
    writes(to, (wide_text(from, SIZE_MAX) + 1) * sizeof *to);
    return wcscpy(to, from);
}
wchar_t *crunner_watched_wcpcpy(wchar_t *restrict to, const wchar_t *restrict from) {
    writes(to, (wide_text(from, SIZE_MAX) + 1) * sizeof *to);
    return wcpcpy(to, from);
}
wchar_t *crunner_watched_wcsncpy(wchar_t *restrict to, const wchar_t *restrict from, size_t n) {
    wide_text(from, n);
    writes(to, n * sizeof *to);
    return wcsncpy(to, from, n);
}
wchar_t *crunner_watched_wcscat(wchar_t *restrict to, const wchar_t *restrict from) {
    writes(to + wide_text(to, SIZE_MAX), (wide_text(from, SIZE_MAX) + 1) * sizeof *to);
    return wcscat(to, from);
}
wchar_t *crunner_watched_wcsncat(wchar_t *restrict to, const wchar_t *restrict from, size_t n) {
    writes(to + wide_text(to, SIZE_MAX), (wide_text(from, n) + 1) * sizeof *to);
    return wcsncat(to, from, n);
}
wchar_t *crunner_watched_wcsrchr(const wchar_t *s, wchar_t c) {
    wide_text(s, SIZE_MAX);
    return wcsrchr(s, c);
}
wchar_t *crunner_watched_wcschr(const wchar_t *s, wchar_t c) {
    for (const wchar_t *at = s;; at++) {
        reads(at, sizeof *at);
        if (!*at || *at == c) break;
    }
    return wcschr(s, c);
}
int crunner_watched_wcsncmp(const wchar_t *a, const wchar_t *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        reads(a + i, sizeof *a), reads(b + i, sizeof *b);
        if (a[i] != b[i] || !a[i]) break;
    }
    return wcsncmp(a, b, n);
}
int crunner_watched_wcscmp(const wchar_t *a, const wchar_t *b) {
    crunner_watched_wcsncmp(a, b, SIZE_MAX);
    return wcscmp(a, b);
}
wchar_t *crunner_watched_wmemcpy(wchar_t *restrict to, const wchar_t *restrict from, size_t n) {
    reads(from, n * sizeof *from), writes(to, n * sizeof *to);
    return wmemcpy(to, from, n);
}
wchar_t *crunner_watched_wmemmove(wchar_t *to, const wchar_t *from, size_t n) {
    reads(from, n * sizeof *from), writes(to, n * sizeof *to);
    return wmemmove(to, from, n);
}
wchar_t *crunner_watched_wmemset(wchar_t *to, wchar_t c, size_t n) {
    writes(to, n * sizeof *to);
    return wmemset(to, c, n);
}
int crunner_watched_wmemcmp(const wchar_t *a, const wchar_t *b, size_t n) {
    reads(a, n * sizeof *a), reads(b, n * sizeof *b);
    return wmemcmp(a, b, n);
}
wchar_t *crunner_watched_wmemchr(const wchar_t *s, wchar_t c, size_t n) {
    for (size_t i = 0; i < n; i++) {
        reads(s + i, sizeof *s);
        if (s[i] == c) break;
    }
    return wmemchr(s, c, n);
}
