/* <wctype.h> and multibyte characters in the C locale. As in glibc, each character is a byte of
 * ASCII, and no other byte is a character, so conversions have no state. */
#include "engine.h"

typedef unsigned wide; /* wint_t */
#define NONE 0xffffffffu
#define INVALID ((size_t)-1)
#define UNFINISHED ((size_t)-2)

static size_t invalid(void) {
    engine_errno = ENGINE_EILSEQ;
    return INVALID;
}

/* ---- classes ---- */

#define IS(name, what) \
    int NAME(isw##name)(wide c) { return what; }
static int is_alpha(wide c) {
    return c < 128 && (engine_is_upper((int)c) || engine_is_lower((int)c));
}
static int is_digit(wide c) { return c < 128 && engine_is_digit((int)c); }
static int is_graph(wide c) { return c > ' ' && c < 127; }
IS(alpha, is_alpha(c))
IS(digit, is_digit(c))
IS(alnum, is_alpha(c) || is_digit(c))
IS(blank, c == ' ' || c == '\t')
IS(cntrl, c < ' ' || c == 127)
IS(graph, is_graph(c))
IS(lower, c >= 'a' && c <= 'z')
IS(print, c >= ' ' && c < 127)
IS(punct, is_graph(c) && !is_alpha(c) && !is_digit(c))
IS(space, c < 128 && engine_is_space((int)c))
IS(upper, c >= 'A' && c <= 'Z')
IS(xdigit, is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))

wide NAME(towlower)(wide c) { return c < 128 ? (wide)engine_to_lower((int)c) : c; }
wide NAME(towupper)(wide c) { return c < 128 ? (wide)engine_to_upper((int)c) : c; }

int NAME(wcscasecmp)(const wchar_t *a, const wchar_t *b) {
    for (; NAME(towlower)((wide)*a) == NAME(towlower)((wide)*b); a++, b++)
        if (!*a) return 0;
    return engine_of_sign(NAME(towlower)((wide)*a) < NAME(towlower)((wide)*b) ? -1 : 1);
}
int NAME(wcsncasecmp)(const wchar_t *a, const wchar_t *b, size_t n) {
    for (; n > 0; n--, a++, b++) {
        wide x = NAME(towlower)((wide)*a), y = NAME(towlower)((wide)*b);
        if (x != y) return engine_of_sign(x < y ? -1 : 1);
        if (!x) return 0;
    }
    return 0;
}

/* ---- one character ---- */

wide NAME(btowc)(int c) { return c >= 0 && c < 128 ? (wide)c : NONE; }
int NAME(wctob)(wide c) { return c < 128 ? (int)c : -1; }
int NAME(mbsinit)(const void *state) { return !state || *(const int *)state == 0; }

size_t NAME(mbrtowc)(wchar_t *restrict into, const char *restrict s, size_t n,
                     void *restrict state) {
    if (!s) return 0;
    if (n == 0) return UNFINISHED;
    unsigned char c = (unsigned char)*s;
    if (c >= 128) return invalid();
    if (into) *into = c;
    return c != 0;
}
size_t NAME(mbrlen)(const char *restrict s, size_t n, void *restrict state) {
    return NAME(mbrtowc)(0, s, n, state);
}
/* If n is 0, glibc may read the first byte nevertheless: at the end of a string the result is 0. */
int NAME(mbtowc)(wchar_t *restrict into, const char *restrict s, size_t n) {
    if (s && n == 0) return engine_perhaps() ? 0 : -1;
    size_t result = NAME(mbrtowc)(into, s, n, 0);
    return (int)result;
}
int NAME(mblen)(const char *s, size_t n) { return NAME(mbtowc)(0, s, n); }

size_t NAME(wcrtomb)(char *restrict into, wchar_t c, void *restrict state) {
    if (!into) return 1;
    if (c < 0 || c >= 128) return invalid();
    *into = (char)c;
    return 1;
}
int NAME(wctomb)(char *into, wchar_t c) { return into ? (int)NAME(wcrtomb)(into, c, 0) : 0; }

/* ---- strings: afterwards *from is the position to continue from, or NULL after the end ---- */

size_t NAME(mbsrtowcs)(wchar_t *restrict into, const char **restrict from, size_t n,
                       void *restrict state) {
    const char *s = *from;
    size_t i = 0;
    for (; !into || i < n; i++, s++) {
        unsigned char c = (unsigned char)*s;
        if (c >= 128) {
            if (into) *from = s;
            return invalid();
        }
        if (into) into[i] = c;
        if (!c) {
            if (into) *from = 0;
            return i;
        }
    }
    *from = s;
    return i;
}
size_t NAME(mbstowcs)(wchar_t *restrict into, const char *from, size_t n) {
    return NAME(mbsrtowcs)(into, &from, n, 0);
}

size_t NAME(wcsrtombs)(char *restrict into, const wchar_t **restrict from, size_t n,
                       void *restrict state) {
    const wchar_t *s = *from;
    size_t i = 0;
    for (; !into || i < n; i++, s++) {
        if (*s < 0 || *s >= 128) {
            if (into) *from = s;
            return invalid();
        }
        if (into) into[i] = (char)*s;
        if (!*s) {
            if (into) *from = 0;
            return i;
        }
    }
    *from = s;
    return i;
}
size_t NAME(wcstombs)(char *restrict into, const wchar_t *from, size_t n) {
    return NAME(wcsrtombs)(into, &from, n, 0);
}
