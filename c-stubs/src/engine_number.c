/* Conversion of text to numbers. strtoll and strtoull follow C 7.22.1.4: spaces, a sign, the base's
 * prefix, digits. If there are no digits, the end is the start of the text; an overflow
 * saturates. */
#include "engine.h"

static int digit_of(char c) {
    if (engine_is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
    return 99;
}

/* The magnitude, saturated; *overflow is set if it does not fit 64 bits. C23's functions also
 * accept the prefix 0b. */
static unsigned long long parse(const char *text, char **end, int base, int is_c23, int *negative,
                                int *overflow) {
    const char *s = text;
    unsigned long long value = 0;
    int any = 0;
    *negative = *overflow = 0;
    if (base < 0 || base == 1 || base > 36) {
        engine_errno = ENGINE_EINVAL;
        return 0;
    }
    while (engine_is_space((unsigned char)*s)) s++;
    if (*s == '+' || *s == '-') *negative = *s++ == '-';
    if ((base == 0 || base == 16) && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')
        && digit_of(s[2]) < 16) {
        base = 16;
        s += 2;
    } else if (is_c23 && (base == 0 || base == 2) && s[0] == '0' && (s[1] == 'b' || s[1] == 'B')
               && digit_of(s[2]) < 2) {
        base = 2;
        s += 2;
    } else if (base == 0) {
        base = *s == '0' ? 8 : 10;
    }
    /* The terminating NUL is not a digit, but the explicit test bounds the loop for proofs. */
    for (int d; *s && (d = digit_of(*s)) < base; s++) {
        any = 1;
        if (__builtin_mul_overflow(value, (unsigned long long)base, &value)
            || __builtin_add_overflow(value, (unsigned long long)d, &value))
            *overflow = 1;
    }
    if (end) *end = (char *)(any ? s : text);
    return value;
}

static long long parse_signed(const char *text, char **end, int base, int is_c23) {
    int negative, overflow;
    unsigned long long v = parse(text, end, base, is_c23, &negative, &overflow);
    unsigned long long most = (unsigned long long)LLONG_MAX + (unsigned)negative;
    if (overflow || v > most) {
        engine_errno = ENGINE_ERANGE;
        return negative ? LLONG_MIN : LLONG_MAX;
    }
    return (long long)(negative ? 0 - v : v);
}

static unsigned long long parse_unsigned(const char *text, char **end, int base, int is_c23) {
    int negative, overflow;
    unsigned long long v = parse(text, end, base, is_c23, &negative, &overflow);
    if (overflow) {
        engine_errno = ENGINE_ERANGE;
        return ULLONG_MAX;
    }
    return negative ? 0 - v : v;
}

#define CONVERSION(name, type, sign, is_c23) \
    type NAME(name)(const char *restrict text, char **restrict end, int base) { \
        return (type)parse_##sign(text, end, base, is_c23); \
    }
CONVERSION(strtol, long, signed, 0)
CONVERSION(strtoll, long long, signed, 0)
CONVERSION(strtoq, long long, signed, 0)
CONVERSION(strtoimax, intmax_t, signed, 0)
CONVERSION(__isoc23_strtol, long, signed, 1)
CONVERSION(__isoc23_strtoll, long long, signed, 1)
CONVERSION(__isoc23_strtoimax, intmax_t, signed, 1)
CONVERSION(strtoul, unsigned long, unsigned, 0)
CONVERSION(strtoull, unsigned long long, unsigned, 0)
CONVERSION(strtouq, unsigned long long, unsigned, 0)
CONVERSION(strtoumax, uintmax_t, unsigned, 0)
CONVERSION(__isoc23_strtoul, unsigned long, unsigned, 1)
CONVERSION(__isoc23_strtoull, unsigned long long, unsigned, 1)
CONVERSION(__isoc23_strtoumax, uintmax_t, unsigned, 1)

int NAME(atoi)(const char *text) { return (int)parse_signed(text, 0, 10, 0); }
long NAME(atol)(const char *text) { return parse_signed(text, 0, 10, 0); }
long long NAME(atoll)(const char *text) { return parse_signed(text, 0, 10, 0); }

/* Whether `s` starts with `word`, ignoring case. */
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
        for (p++; engine_is_digit(*p) || engine_is_lower(*p) || engine_is_upper(*p) || *p == '_';
             p++) {}
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

/* The text of a number: from its sign, and from what follows the sign, to its end. Without a
 * number, the end equals the start. */
struct subject {
    const char *from, *digits, *end;
};

static struct subject subject_of(const char *text, char **end) {
    const char *s = text;
    while (engine_is_space((unsigned char)*s)) s++;
    struct subject found = {.from = s};
    if (*s == '+' || *s == '-') s++;
    found.digits = s;
    found.end = float_end(s);
    if (end) *end = (char *)(found.end == s ? text : found.end);
    return found;
}

static int is_hexadecimal(const struct subject *s) {
    return s->digits[0] == '0' && (s->digits[1] == 'x' || s->digits[1] == 'X');
}

/* Whether a digit before the exponent is nonzero. */
static int is_nonzero(const struct subject *s) {
    int hex = is_hexadecimal(s);
    for (const char *p = s->digits + (hex ? 2 : 0);
         p < s->end && engine_to_lower((unsigned char)*p) != (hex ? 'p' : 'e'); p++)
        if (*p != '0' && *p != '.') return 1;
    return 0;
}

/* Sets ERANGE if the result is not finite, or is too small to be exact. `size` is the result's
 * absolute value, `least` the smallest number with full precision. Decimal fractions of the usual
 * length are never exact below it; whether others are exact is unspecified here. */
static void check_range(const struct subject *s, double size, double least) {
    char first = (char)engine_to_lower((unsigned char)s->digits[0]);
    if (first == 'i' || first == 'n' || !is_nonzero(s)) return;
    if (size - size != 0 || size == 0) engine_errno = ENGINE_ERANGE;
    else if (size < least && (!(is_hexadecimal(s) || s->end - s->digits > 300) || engine_perhaps()))
        engine_errno = ENGINE_ERANGE;
}

double NAME(strtod)(const char *restrict text, char **restrict end) {
    struct subject s = subject_of(text, end);
    if (s.end == s.digits) return 0;
    double v = crunner_parse_float(s.from, (size_t)(s.end - s.from));
    check_range(&s, __builtin_fabs(v), __DBL_MIN__);
    return v;
}

/* A float NaN with the sign and the payload from the text; converting the double would shift the
 * payload away. */
static float not_a_number(double v) {
    union {
        double number;
        unsigned long long bits;
    } from = {v};
    union {
        unsigned bits;
        float number;
    } to = {(unsigned)(from.bits >> 63) << 31 | 0x7fc00000u | (unsigned)(from.bits & 0x3fffff)};
    return to.number;
}

/* The number is rounded twice. That differs from rounding once only if the first result is halfway
 * between two floats. */
float NAME(strtof)(const char *restrict text, char **restrict end) {
    struct subject s = subject_of(text, end);
    if (s.end == s.digits) return 0;
    double v = crunner_parse_float(s.from, (size_t)(s.end - s.from));
    if (v != v) return not_a_number(v);
    float r = (float)v;
    int is_finite = r - r == 0;
    double beyond = is_finite ? 2 * v - (double)r
                    : v < 0   ? -(double)__FLT_MAX__
                              : (double)__FLT_MAX__;
    int is_halfway = is_finite ? (double)r != v && (double)(float)beyond == beyond
                               : __builtin_fabs(v) == 0x1.ffffffp127;
    if (is_halfway && engine_perhaps()) r = (float)beyond;
    check_range(&s, __builtin_fabs((double)r), __FLT_MIN__);
    return r;
}

/* The host's conversion has the precision of a double. That is exact for 15 digits without a
 * fraction or an exponent; for other texts only the nearest double is known. */
long double NAME(strtold)(const char *restrict text, char **restrict end) {
    struct subject s = subject_of(text, end);
    const char *p = s.digits;
    if (s.end == s.digits) return 0;
    while (p < s.end && engine_is_digit(*p)) p++;
    int is_exact = (p == s.end && p - s.digits <= 15)
                   || engine_to_lower((unsigned char)s.digits[0]) == 'i';
    if (!is_exact && engine_perhaps())
        crunner_unmodelled("a long double from a text with a fraction or an exponent");
    return crunner_parse_float(s.from, (size_t)(s.end - s.from));
}

double NAME(atof)(const char *text) { return NAME(strtod)(text, 0); }

int NAME(abs)(int v) { return v < 0 ? -v : v; }
long NAME(labs)(long v) { return v < 0 ? -v : v; }
long long NAME(llabs)(long long v) { return v < 0 ? -v : v; }
intmax_t NAME(imaxabs)(intmax_t v) { return v < 0 ? -v : v; }

struct div_int {
    int quotient, remainder;
};
struct div_long {
    long quotient, remainder;
};
struct div_longlong {
    long long quotient, remainder;
};
struct div_int NAME(div)(int a, int b) { return (struct div_int){a / b, a % b}; }
struct div_long NAME(ldiv)(long a, long b) { return (struct div_long){a / b, a % b}; }
struct div_longlong NAME(lldiv)(long long a, long long b) {
    return (struct div_longlong){a / b, a % b};
}

int NAME(ffs)(int v) { return v ? __builtin_ctz((unsigned)v) + 1 : 0; }
int NAME(ffsl)(long v) { return v ? __builtin_ctzl((unsigned long)v) + 1 : 0; }
int NAME(ffsll)(long long v) { return v ? __builtin_ctzll((unsigned long long)v) + 1 : 0; }

uint32_t NAME(htonl)(uint32_t v) { return __builtin_bswap32(v); }
uint32_t NAME(ntohl)(uint32_t v) { return __builtin_bswap32(v); }
uint16_t NAME(htons)(uint16_t v) { return __builtin_bswap16(v); }
uint16_t NAME(ntohs)(uint16_t v) { return __builtin_bswap16(v); }
