/* <wchar.h>: the plain functions on wide strings. */
#include "engine.h"

size_t NAME(wcslen)(const wchar_t *s) {
    size_t n = 0;
    while (s[n]) n++;
    return n;
}

size_t NAME(wcsnlen)(const wchar_t *s, size_t most) {
    size_t n = 0;
    while (n < most && s[n]) n++;
    return n;
}

wchar_t *NAME(wcscpy)(wchar_t *restrict to, const wchar_t *restrict from) {
    size_t i = 0;
    do to[i] = from[i];
    while (from[i++]);
    return to;
}

wchar_t *NAME(wcsncpy)(wchar_t *restrict to, const wchar_t *restrict from, size_t n) {
    size_t i = 0;
    for (; i < n && from[i]; i++) to[i] = from[i];
    for (; i < n; i++) to[i] = 0;
    return to;
}

wchar_t *NAME(wcscat)(wchar_t *restrict to, const wchar_t *restrict from) {
    NAME(wcscpy)(to + NAME(wcslen)(to), from);
    return to;
}

int NAME(wcsncmp)(const wchar_t *a, const wchar_t *b, size_t n) {
    for (; n > 0; n--, a++, b++)
        if (!*a || *a != *b) return (*a > *b) - (*a < *b);
    return 0;
}
int NAME(wcscmp)(const wchar_t *a, const wchar_t *b) { return NAME(wcsncmp)(a, b, SIZE_MAX); }

wchar_t *NAME(wcschr)(const wchar_t *s, wchar_t c) {
    for (;; s++) {
        if (*s == c) return (wchar_t *)s;
        if (!*s) return 0;
    }
}

wchar_t *NAME(wmemcpy)(wchar_t *restrict to, const wchar_t *restrict from, size_t n) {
    return __builtin_memcpy(to, from, n * sizeof *to);
}
wchar_t *NAME(wmemmove)(wchar_t *to, const wchar_t *from, size_t n) {
    return __builtin_memmove(to, from, n * sizeof *to);
}
wchar_t *NAME(wmemset)(wchar_t *to, wchar_t c, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = c;
    return to;
}
int NAME(wmemcmp)(const wchar_t *a, const wchar_t *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}
