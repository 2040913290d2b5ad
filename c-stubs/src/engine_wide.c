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
    if (n == 0) return 0;
    int last = (a[n - 1] > b[n - 1]) - (a[n - 1] < b[n - 1]);
    for (size_t i = 0; i < n - 1; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return last;
}

wchar_t *NAME(wcsncat)(wchar_t *restrict to, const wchar_t *restrict from, size_t n) {
    wchar_t *end = to + NAME(wcslen)(to);
    for (; n > 0 && *from; n--) *end++ = *from++;
    *end = 0;
    return to;
}

wchar_t *NAME(wcpcpy)(wchar_t *restrict to, const wchar_t *restrict from) {
    return NAME(wcscpy)(to, from) + NAME(wcslen)(from);
}
wchar_t *NAME(wcpncpy)(wchar_t *restrict to, const wchar_t *restrict from, size_t n) {
    return NAME(wcsncpy)(to, from, n) + NAME(wcsnlen)(from, n);
}

wchar_t *NAME(wcsrchr)(const wchar_t *s, wchar_t c) {
    const wchar_t *last = 0;
    for (;; s++) {
        if (*s == c) last = s;
        if (!*s) return (wchar_t *)last;
    }
}

static int is_among(wchar_t c, const wchar_t *set) {
    while (*set && *set != c) set++;
    return *set != 0;
}
size_t NAME(wcsspn)(const wchar_t *s, const wchar_t *accepted) {
    size_t n = 0;
    while (s[n] && is_among(s[n], accepted)) n++;
    return n;
}
size_t NAME(wcscspn)(const wchar_t *s, const wchar_t *rejected) {
    size_t n = 0;
    while (s[n] && !is_among(s[n], rejected)) n++;
    return n;
}
wchar_t *NAME(wcspbrk)(const wchar_t *s, const wchar_t *accepted) {
    s += NAME(wcscspn)(s, accepted);
    return *s ? (wchar_t *)s : 0;
}

wchar_t *NAME(wcsstr)(const wchar_t *s, const wchar_t *wanted) {
    for (;; s++) {
        size_t i = 0;
        while (wanted[i] && s[i] == wanted[i]) i++;
        if (!wanted[i]) return (wchar_t *)s;
        if (!*s) return 0;
    }
}

wchar_t *NAME(wcstok)(wchar_t *restrict s, const wchar_t *restrict between,
                      wchar_t **restrict rest) {
    if (!s) s = *rest;
    if (!s) return 0;
    s += NAME(wcsspn)(s, between);
    if (!*s) {
        *rest = 0;
        return 0;
    }
    wchar_t *end = s + NAME(wcscspn)(s, between);
    *rest = *end ? end + 1 : 0;
    *end = 0;
    return s;
}

wchar_t *NAME(wmemchr)(const wchar_t *s, wchar_t c, size_t n) {
    for (; n > 0; n--, s++)
        if (*s == c) return (wchar_t *)s;
    return 0;
}
wchar_t *NAME(wmempcpy)(wchar_t *restrict to, const wchar_t *restrict from, size_t n) {
    return NAME(wmemcpy)(to, from, n) + n;
}
