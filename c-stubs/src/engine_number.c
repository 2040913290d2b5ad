/* Text to numbers. strtoll and strtoull follow C 7.22.1.4: spaces, a sign, the base's prefix, digits; a subject without
 * digits leaves the end at the start, an overflow saturates. */
#include "engine.h"

static int digit_of(char c) {
    if (engine_is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
    return 99;
}

/* The magnitude, saturated; *overflow if it does not fit 64 bits. */
static unsigned long long parse(const char *text, char **end, int base, int *negative, int *overflow) {
    const char *s = text;
    unsigned long long value = 0;
    int any = 0;
    *negative = *overflow = 0;
    if (base < 0 || base == 1 || base > 36) {
        engine_errno = ENGINE_EINVAL;
        if (end) *end = (char *)text;
        return 0;
    }
    while (engine_is_space((unsigned char)*s)) s++;
    if (*s == '+' || *s == '-') *negative = *s++ == '-';
    if ((base == 0 || base == 16) && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && digit_of(s[2]) < 16) {
        base = 16;
        s += 2;
    } else if (base == 0) {
        base = *s == '0' ? 8 : 10;
    }
    for (int d; (d = digit_of(*s)) < base; s++) {
        any = 1;
        if (__builtin_mul_overflow(value, (unsigned long long)base, &value) ||
            __builtin_add_overflow(value, (unsigned long long)d, &value))
            *overflow = 1;
    }
    if (end) *end = (char *)(any ? s : text);
    return value;
}

long long NAME(strtoll)(const char *restrict text, char **restrict end, int base) {
    int negative, overflow;
    unsigned long long v = parse(text, end, base, &negative, &overflow);
    unsigned long long most = (unsigned long long)LLONG_MAX + (unsigned)negative;
    if (overflow || v > most) {
        engine_errno = ENGINE_ERANGE;
        return negative ? LLONG_MIN : LLONG_MAX;
    }
    return (long long)(negative ? 0 - v : v);
}

unsigned long long NAME(strtoull)(const char *restrict text, char **restrict end, int base) {
    int negative, overflow;
    unsigned long long v = parse(text, end, base, &negative, &overflow);
    if (overflow) {
        engine_errno = ENGINE_ERANGE;
        return ULLONG_MAX;
    }
    return negative ? 0 - v : v;
}

#define SIGNED(name, type)                                                  \
    type NAME(name)(const char *restrict text, char **restrict end, int base) { \
        return (type)NAME(strtoll)(text, end, base);                        \
    }
#define UNSIGNED(name, type)                                                \
    type NAME(name)(const char *restrict text, char **restrict end, int base) { \
        return (type)NAME(strtoull)(text, end, base);                       \
    }
SIGNED(strtol, long)
SIGNED(strtoq, long long)
SIGNED(strtoimax, intmax_t)
SIGNED(__isoc23_strtol, long)
SIGNED(__isoc23_strtoll, long long)
UNSIGNED(strtoul, unsigned long)
UNSIGNED(strtouq, unsigned long long)
UNSIGNED(strtoumax, uintmax_t)
UNSIGNED(__isoc23_strtoul, unsigned long)
UNSIGNED(__isoc23_strtoull, unsigned long long)

int NAME(atoi)(const char *text) { return (int)NAME(strtoll)(text, 0, 10); }
long NAME(atol)(const char *text) { return NAME(strtoll)(text, 0, 10); }
long long NAME(atoll)(const char *text) { return NAME(strtoll)(text, 0, 10); }

/* Whether `s` continues with `word`, whatever the case. */
static int word_at(const char *s, const char *word) {
    while (*word && engine_to_lower((unsigned char)*s) == *word) s++, word++;
    return !*word;
}

/* The end of the longest number at s (after its sign); s if there is none. */
static const char *float_end(const char *s) {
    int hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X'), digits = 0;
    const char *p = hex ? s + 2 : s, *zero = hex ? s + 1 : s;
    if (word_at(s, "infinity")) return s + 8;
    if (word_at(s, "inf")) return s + 3;
    if (word_at(s, "nan")) {
        p = s + 3;
        if (*p != '(') return p;
        for (p++; engine_is_digit(*p) || engine_is_lower(*p) || engine_is_upper(*p) || *p == '_'; p++) {}
        return *p == ')' ? p + 1 : s + 3;
    }
    for (; digit_of(*p) < (hex ? 16 : 10); p++) digits++;
    if (*p == '.')
        for (p++; digit_of(*p) < (hex ? 16 : 10); p++) digits++;
    if (!digits) return zero;
    char e = (char)engine_to_lower((unsigned char)*p);
    if (e == (hex ? 'p' : 'e')) {
        const char *q = p + 1;
        if (*q == '+' || *q == '-') q++;
        if (engine_is_digit(*q)) {
            while (engine_is_digit(*q)) q++;
            p = q;
        }
    }
    return p;
}

double NAME(strtod)(const char *restrict text, char **restrict end) {
    const char *s = text, *stop;
    while (engine_is_space((unsigned char)*s)) s++;
    const char *number = s;
    if (*s == '+' || *s == '-') s++;
    stop = float_end(s);
    if (stop == s) {
        if (end) *end = (char *)text;
        return 0;
    }
    if (end) *end = (char *)stop;
    double v = crunner_parse_float(number, (size_t)(stop - number));
    if (v - v != 0 && v == v && s[0] != 'i' && s[0] != 'I') engine_errno = ENGINE_ERANGE;
    return v;
}

float NAME(strtof)(const char *restrict text, char **restrict end) { return (float)NAME(strtod)(text, end); }
long double NAME(strtold)(const char *restrict text, char **restrict end) { return NAME(strtod)(text, end); }
double NAME(atof)(const char *text) { return NAME(strtod)(text, 0); }

int NAME(abs)(int v) { return v < 0 ? -v : v; }
long NAME(labs)(long v) { return v < 0 ? -v : v; }
long long NAME(llabs)(long long v) { return v < 0 ? -v : v; }
intmax_t NAME(imaxabs)(intmax_t v) { return v < 0 ? -v : v; }

struct div_int { int quotient, remainder; };
struct div_long { long quotient, remainder; };
struct div_longlong { long long quotient, remainder; };
struct div_int NAME(div)(int a, int b) { return (struct div_int){a / b, a % b}; }
struct div_long NAME(ldiv)(long a, long b) { return (struct div_long){a / b, a % b}; }
struct div_longlong NAME(lldiv)(long long a, long long b) { return (struct div_longlong){a / b, a % b}; }

int NAME(ffs)(int v) { return v ? __builtin_ctz((unsigned)v) + 1 : 0; }
int NAME(ffsl)(long v) { return v ? __builtin_ctzl((unsigned long)v) + 1 : 0; }
int NAME(ffsll)(long long v) { return v ? __builtin_ctzll((unsigned long long)v) + 1 : 0; }

uint32_t NAME(htonl)(uint32_t v) { return __builtin_bswap32(v); }
uint32_t NAME(ntohl)(uint32_t v) { return __builtin_bswap32(v); }
uint16_t NAME(htons)(uint16_t v) { return __builtin_bswap16(v); }
uint16_t NAME(ntohs)(uint16_t v) { return __builtin_bswap16(v); }
