/* Compares the engine's functions for wide characters, multibyte characters and IPv4 addresses with
 * the platform's. Prints each difference, and returns their number. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

int *engine___errno_location(void);
unsigned long engine_strtoul(const char *, char **, int);
static int differences;

static void differ(const char *what, const char *about, long number) {
    differences++;
    printf("%s of \"%s\" %ld\n", what, about, number);
}
static void begin(void) { errno = *engine___errno_location() = 0; }
static int same_error(void) { return errno == *engine___errno_location(); }

#define CLASSES(DO) \
    DO(iswalnum) DO(iswalpha) DO(iswblank) DO(iswcntrl) DO(iswdigit) DO(iswgraph) DO(iswlower) DO(iswprint) DO(iswpunct) \
    DO(iswspace) DO(iswupper) DO(iswxdigit)
#define DECLARE(name) int engine_##name(wint_t);
CLASSES(DECLARE)
#define COMPARE(name) if (!name(c) != !engine_##name(c)) differ(#name, "", (long)c);
wint_t engine_towlower(wint_t), engine_towupper(wint_t), engine_btowc(int);
int engine_wctob(wint_t), engine_mbtowc(wchar_t *, const char *, size_t), engine_wctomb(char *, wchar_t), engine_mblen(const char *, size_t);
size_t engine_mbrtowc(wchar_t *, const char *, size_t, void *), engine_wcrtomb(char *, wchar_t, void *), engine_mbstowcs(wchar_t *, const char *, size_t);
size_t engine_mbsrtowcs(wchar_t *, const char **, size_t, void *), engine_wcstombs(char *, const wchar_t *, size_t);
size_t engine_wcsrtombs(char *, const wchar_t **, size_t, void *);

static void characters(void) {
    for (wint_t c = 0; c < 0x3000; c++) {
        CLASSES(COMPARE)
        if (towlower(c) != engine_towlower(c) || towupper(c) != engine_towupper(c)) differ("tow", "", (long)c);
        if (wctob(c) != engine_wctob(c)) differ("wctob", "", (long)c);
        char a[8] = "", b[8] = "";
        begin();
        if (wctomb(a, (wchar_t)c) != engine_wctomb(b, (wchar_t)c) || strcmp(a, b) || !same_error()) differ("wctomb", "", (long)c);
    }
    for (int c = -2; c < 300; c++)
        if (btowc(c) != engine_btowc(c)) differ("btowc", "", c);
    for (int c = 0; c < 256; c++)
        for (size_t n = c == 0; n < 3; n++) {
            char text[3] = {(char)c, 'x', 0};
            wchar_t a = 7, b = 7;
            mbstate_t state;
            memset(&state, 0, sizeof state);
            begin();
            if (mbtowc(&a, text, n) != engine_mbtowc(&b, text, n) || a != b || !same_error()) differ("mbtowc", text, (long)n);
            if (mblen(text, n) != engine_mblen(text, n)) differ("mblen", text, (long)n);
            begin();
            if (mbrtowc(&a, text, n, &state) != engine_mbrtowc(&b, text, n, 0) || a != b || !same_error()) differ("mbrtowc", text, (long)n);
        }
}

static void conversions(void) {
    static const char *texts[] = {"", "abc", "ab\xc3\xa4 c", "\x80"};
    static const wchar_t *wides[] = {L"", L"abc", L"ab\x100z", L"\x80"};
    for (int t = 0; t < 4; t++)
        for (size_t n = 0; n < 6; n++) {
            wchar_t a[8] = {1, 1, 1, 1, 1, 1, 1, 1}, b[8] = {1, 1, 1, 1, 1, 1, 1, 1};
            char c[8] = "#######", d[8] = "#######";
            const char *x = texts[t], *y = texts[t];
            const wchar_t *v = wides[t], *w = wides[t];
            mbstate_t state;
            memset(&state, 0, sizeof state);
            begin();
            if (mbsrtowcs(a, &x, n, &state) != engine_mbsrtowcs(b, &y, n, 0) || x != y || memcmp(a, b, sizeof a) || !same_error())
                differ("mbsrtowcs", texts[t], (long)n);
            memset(&state, 0, sizeof state);
            if (wcsrtombs(c, &v, n, &state) != engine_wcsrtombs(d, &w, n, 0) || v != w || memcmp(c, d, sizeof c) || !same_error())
                differ("wcsrtombs", texts[t], (long)n);
            if (mbstowcs(0, texts[t], n) != engine_mbstowcs(0, texts[t], n)) differ("mbstowcs", texts[t], (long)n);
            if (wcstombs(0, wides[t], n) != engine_wcstombs(0, wides[t], n)) differ("wcstombs", texts[t], (long)n);
        }
}

#define OF_TWO(name) \
    wchar_t *engine_##name(const wchar_t *, const wchar_t *);
OF_TWO(wcspbrk)
OF_TWO(wcsstr)
size_t engine_wcsspn(const wchar_t *, const wchar_t *), engine_wcscspn(const wchar_t *, const wchar_t *);
wchar_t *engine_wcsrchr(const wchar_t *, wchar_t), *engine_wmemchr(const wchar_t *, wchar_t, size_t);
wchar_t *engine_wcsncat(wchar_t *, const wchar_t *, size_t), *engine_wcpcpy(wchar_t *, const wchar_t *), *engine_wcpncpy(wchar_t *, const wchar_t *, size_t);
wchar_t *engine_wcstok(wchar_t *, const wchar_t *, wchar_t **);
int engine_wcscasecmp(const wchar_t *, const wchar_t *), engine_wcsncasecmp(const wchar_t *, const wchar_t *, size_t);
static int sign(int n) { return (n > 0) - (n < 0); }

static void strings(void) {
    static const wchar_t *all[] = {L"", L"a", L"A", L"abcabd", L"abd", L"ABCABD", L"bd,", L", ,x,,yz", L",", L"zz\x100"};
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 10; j++) {
            const wchar_t *s = all[i], *t = all[j];
            if (wcspbrk(s, t) != engine_wcspbrk(s, t) || wcsstr(s, t) != engine_wcsstr(s, t) || wcsspn(s, t) != engine_wcsspn(s, t) ||
                wcscspn(s, t) != engine_wcscspn(s, t) || wcsrchr(s, *t) != engine_wcsrchr(s, *t) || wmemchr(s, *t, wcslen(s)) != engine_wmemchr(s, *t, wcslen(s)))
                differ("search", "", i * 10 + j);
            if (sign(wcscasecmp(s, t)) != sign(engine_wcscasecmp(s, t))) differ("wcscasecmp", "", i * 10 + j);
            for (size_t n = 0; n < 8; n++) {
                wchar_t a[24] = L"#########################", b[24] = L"#########################";
                if (sign(wcsncasecmp(s, t, n)) != sign(engine_wcsncasecmp(s, t, n))) differ("wcsncasecmp", "", i * 10 + j);
                if (wcpncpy(a, s, n) - a != engine_wcpncpy(b, s, n) - b || memcmp(a, b, sizeof a)) differ("wcpncpy", "", i * 10 + j);
                if (wcpcpy(a, s) - a != engine_wcpcpy(b, s) - b || wcsncat(a, t, n) - a != engine_wcsncat(b, t, n) - b || memcmp(a, b, sizeof a))
                    differ("wcsncat", "", i * 10 + j);
            }
            wchar_t a[24], b[24], *x = 0, *y = 0;
            wcscpy(a, s);
            wcscpy(b, s);
            for (int turn = 0; turn < 4; turn++) {
                wchar_t *p = wcstok(turn ? 0 : a, t, &x), *q = engine_wcstok(turn ? 0 : b, t, &y);
                if (!p != !q || (p && (p - a != q - b || wcscmp(p, q)))) differ("wcstok", "", i * 10 + j);
                if (!p) break;
            }
        }
}

unsigned engine_inet_addr(const char *);
int engine_inet_aton(const char *, void *), engine_inet_pton(int, const char *, void *);
char *engine_inet_ntoa(struct in_addr);
const char *engine_inet_ntop(int, const void *, char *, unsigned);

static void addresses(void) {
    static const char *texts[] = {"1.2.3.4", "255.255.255.255", "256.1.1.1", "1.2.3", "1.2", "7", "0x7f.1", "010.1.1.1", "1.2.3.4.5", "1.2.3.", "", ".1.2.3", "1.2.3.4 x",
        "1.2.3.4x", "4294967295", "4294967296", "1.16777215", "1.16777216", "1.2.65536", "01.2.3.4", "0.0.0.0", "00.0.0.0", "1..2.3", "-1.2.3.4", "99999999999999999999", "1.2.3.1234", "0x.1", "08.1"};
    for (unsigned t = 0; t < sizeof texts / sizeof *texts; t++) {
        struct in_addr a = {7}, b = {7};
        begin();
        if (inet_aton(texts[t], &a) != engine_inet_aton(texts[t], &b) || a.s_addr != b.s_addr || !same_error()) differ("inet_aton", texts[t], errno);
        if (inet_addr(texts[t]) != engine_inet_addr(texts[t])) differ("inet_addr", texts[t], 0);
        a.s_addr = b.s_addr = 7;
        if (inet_pton(AF_INET, texts[t], &a) != engine_inet_pton(AF_INET, texts[t], &b) || a.s_addr != b.s_addr) differ("inet_pton", texts[t], 0);
        if (strcmp(inet_ntoa(a), engine_inet_ntoa(a))) differ("inet_ntoa", texts[t], 0);
        for (unsigned room = 0; room < 17; room++) {
            char c[17] = "################", d[17] = "################";
            begin();
            if (!inet_ntop(AF_INET, &a, c, room) != !engine_inet_ntop(AF_INET, &a, d, room) || !same_error()) differ("inet_ntop", texts[t], (long)room);
            else if (room > strlen(c) && strcmp(c, d)) differ("inet_ntop", c, (long)room);
        }
    }
    begin();
    if (inet_pton(77, "", 0) != engine_inet_pton(77, "", 0) || !same_error()) differ("inet_pton", "family", 77);
}

int wide_differences(void) {
    characters();
    conversions();
    strings();
    addresses();
    return differences;
}
