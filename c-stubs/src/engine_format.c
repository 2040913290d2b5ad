/* printf's formatting. A single pass over the format writes into a sink that counts all characters
 * and stores those that fit, so that no byte past the given size is accessed. Floating point
 * numbers are formatted by the host, so that the digits are those of a native run.
 *
 * A constant format is split before the program runs (normalise/formats). Each of its parts is then
 * a call of one of the engine_format_ functions, with the specification that was parsed from it. */
#include "engine.h"

struct sink {
    char *to;
    size_t room, at;
};

static void put(struct sink *s, char c) {
    if (s->at < s->room) s->to[s->at] = c;
    s->at++;
}

/* The number of n more bytes for which there is room. */
static size_t kept(const struct sink *s, size_t n) {
    size_t left = s->at < s->room ? s->room - s->at : 0;
    return n < left ? n : left;
}

/* Copies a block instead of single bytes, since proofs know more about a copy than about a loop. */
static void put_block(struct sink *s, const char *from, size_t n) {
    size_t some = kept(s, n);
    if (some) __builtin_memcpy(s->to + s->at, from, some);
    s->at += n;
}

static void pad(struct sink *s, char c, long n) {
    if (n <= 0) return;
    size_t some = kept(s, (size_t)n);
    if (some) __builtin_memset(s->to + s->at, c, some);
    s->at += (size_t)n;
}

/* normalise/formats constructs this structure too. */
struct spec {
    int left, plus, space, alternate, zero, group;
    int width, precision; /* precision -1: none given */
    enum { CHAR, SHORT, INT, LONG, LONGLONG, INTMAX, SIZE, PTRDIFF, LONGDOUBLE } length;
    int conversion;
};

/* The number of digits of the largest number in this base. */
static int longest(unsigned base, int is_long) {
    switch (base) {
    case 2: return is_long ? 64 : 32;
    case 8: return is_long ? 22 : 11;
    case 10: return is_long ? 20 : 10;
    default: return is_long ? 16 : 8;
    }
}

/* The number of decimal digits after the first. There is no loop, since the range of a sum of
 * comparisons is obvious to an analysis. */
static int more_digits(uintmax_t v, int most) {
    int n = (v >= 10) + (v >= 100) + (v >= 1000) + (v >= 10000) + (v >= 100000) + (v >= 1000000)
            + (v >= 10000000) + (v >= 100000000) + (v >= 1000000000);
    if (most <= 10) return n;
    return n + (v >= 10000000000u) + (v >= 100000000000u) + (v >= 1000000000000u)
           + (v >= 10000000000000u) + (v >= 100000000000000u) + (v >= 1000000000000000u)
           + (v >= 10000000000000000u) + (v >= 100000000000000000u) + (v >= 1000000000000000000u)
           + (v >= 10000000000000000000u);
}

/* The same for a base that is a power of two. */
static int more_places(uintmax_t v, unsigned base) {
    int bits = v ? 63 - __builtin_clzll(v) : 0;
    return base == 16 ? bits / 4 : base == 8 ? bits / 3 : bits;
}

/* Writes the digits of an integer, with sign or prefix, precision and width. The maximal number of
 * digits is always computed, so that the number of iterations is the same for all numbers; only the
 * number of digits that are used depends on the number. */
static void put_integer(struct sink *s, const struct spec *f, uintmax_t v, int negative,
                        unsigned base) {
    const char *digits = f->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    char text[64], prefix[3];
    int most = longest(base, f->length > INT || f->conversion == 'p');
    int n = (f->precision != 0) | (v != 0), prefixed = 0, zeros = 0,
        signed_ = f->conversion == 'd' || f->conversion == 'i' || f->conversion == 'p';
    uintmax_t rest = v;
    n += base == 10 ? more_digits(v, most) : more_places(v, base);
    for (int i = most; i > 0; rest /= base) text[--i] = digits[rest % base];
    if (f->precision > 0 && f->precision > n) zeros = f->precision - n;
    if (f->alternate && base == 8 && zeros == 0 && (n == 0 || v)) zeros = 1;
    if (negative) prefix[prefixed++] = '-';
    else if (signed_ && f->plus) prefix[prefixed++] = '+';
    else if (signed_ && f->space) prefix[prefixed++] = ' ';
    if ((f->alternate || f->conversion == 'p') && (base == 16 || base == 2) && v) {
        prefix[prefixed++] = '0';
        prefix[prefixed++] = f->conversion == 'p' ? 'x' : (char)f->conversion;
    }
    if (f->zero && !f->left && f->precision < 0 && f->width > n + zeros + prefixed)
        zeros = f->width - n - prefixed;
    long fill = f->width ? (long)f->width - n - zeros - prefixed : 0;
    if (!f->left) pad(s, ' ', fill);
    if (prefixed) put_block(s, prefix, (size_t)prefixed);
    pad(s, '0', zeros);
    put_block(s, text + most - n, (size_t)n);
    if (f->left) pad(s, ' ', fill);
}

static void put_text(struct sink *s, const struct spec *f, const char *text, size_t n) {
    long fill = f->width ? (long)f->width - (long)n : 0;
    if (!f->left) pad(s, ' ', fill);
    put_block(s, text, n);
    if (f->left) pad(s, ' ', fill);
}

/* The largest width and precision that are passed to the host. It writes each byte, and a format
 * from outside may ask for billions. */
#define WIDEST 4096
#define FINEST (1 << 20)

/* Writes a number's text in a field that is too wide for the host. */
static void put_in_field(struct sink *s, const struct spec *f, const char *text, size_t n) {
    long fill = (long)f->width - (long)n;
    size_t sign = *text == '-' || *text == '+' || *text == ' ';
    /* Infinities and NaNs are not padded with zeros. */
    int zeros = f->zero && !f->left && engine_is_digit(text[sign]);
    size_t before = zeros ? sign + (text[sign] == '0' && (text[sign + 1] | 32) == 'x' ? 2 : 0) : 0;
    if (!f->left && !zeros) pad(s, ' ', fill);
    put_block(s, text, before);
    if (zeros) pad(s, '0', fill);
    put_block(s, text + before, n - before);
    if (f->left) pad(s, ' ', fill);
}

static void put_digits(struct sink *s, const struct spec *f, const char *text, size_t n, int wide) {
    if (wide) put_in_field(s, f, text, n);
    else put_block(s, text, n);
}

/* Writes a number of at most FINEST without a loop, so that proofs know the number of digits. */
static int put_decimal(char *to, int at, int number) {
    if (number >= 1000000) to[at++] = (char)('0' + number / 1000000);
    if (number >= 100000) to[at++] = (char)('0' + number / 100000 % 10);
    if (number >= 10000) to[at++] = (char)('0' + number / 10000 % 10);
    if (number >= 1000) to[at++] = (char)('0' + number / 1000 % 10);
    if (number >= 100) to[at++] = (char)('0' + number / 100 % 10);
    if (number >= 10) to[at++] = (char)('0' + number / 10 % 10);
    to[at++] = (char)('0' + number % 10);
    return at;
}

static void put_float(struct sink *s, const struct spec *f, double v) {
    if (f->precision > FINEST) {
        crunner_unmodelled("so many digits of a number");
        return;
    }
    int wide = f->width > WIDEST;
    char spec[48], small[400];
    int at = 0;
    spec[at++] = '%';
    if (f->left) spec[at++] = '-';
    if (f->plus) spec[at++] = '+';
    if (f->space) spec[at++] = ' ';
    if (f->alternate) spec[at++] = '#';
    if (f->zero && !wide) spec[at++] = '0';
    if (!wide && f->width > 0) at = put_decimal(spec, at, f->width);
    if (f->precision >= 0) {
        spec[at++] = '.';
        at = put_decimal(spec, at, f->precision);
    }
    spec[at++] = (char)f->conversion;
    spec[at] = 0;
    int n = crunner_format_float(small, sizeof small, spec, v);
    if (n < 0) return;
    if ((size_t)n < sizeof small) {
        put_digits(s, f, small, (size_t)n, wide);
        return;
    }
    char *text = malloc((size_t)n + 1);
    if (!text) return;
    crunner_format_float(text, (size_t)n + 1, spec, v);
    put_digits(s, f, text, (size_t)n, wide);
    free(text);
}

/* A wide character beyond ASCII cannot be converted in the C locale. The whole call fails then, as
 * in glibc. */
static int put_wide(struct sink *s, const struct spec *f, const int *text, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (text[i] < 0 || text[i] > 127) return 0;
    long fill = (long)f->width - (long)n;
    if (!f->left) pad(s, ' ', fill);
    for (size_t i = 0; i < n; i++) put(s, (char)text[i]);
    if (f->left) pad(s, ' ', fill);
    return 1;
}

static int number(const char **at) {
    long v = 0;
    for (; engine_is_digit(**at); (*at)++)
        if (v <= INT_MAX) v = v * 10 + (**at - '0');
    return v > INT_MAX ? -1 : (int)v;
}

static const char *read_length(const char *p, struct spec *f) {
    f->length = INT;
    switch (*p) {
    case 'h': return p[1] == 'h' ? (f->length = CHAR, p + 2) : (f->length = SHORT, p + 1);
    case 'l': return p[1] == 'l' ? (f->length = LONGLONG, p + 2) : (f->length = LONG, p + 1);
    case 'q': f->length = LONGLONG; return p + 1;
    case 'j': f->length = INTMAX; return p + 1;
    case 'z':
    case 'Z': f->length = SIZE; return p + 1;
    case 't': f->length = PTRDIFF; return p + 1;
    case 'L': f->length = LONGDOUBLE; return p + 1;
    default: return p;
    }
}

/* All types longer than int have 64 bits on the platforms that this models. */
static intmax_t signed_argument(const struct spec *f, unsigned long long given) {
    switch (f->length) {
    case CHAR: return (signed char)given;
    case SHORT: return (short)given;
    case INT: return (int)given;
    default: return (intmax_t)given;
    }
}

static uintmax_t unsigned_argument(const struct spec *f, unsigned long long given) {
    switch (f->length) {
    case CHAR: return (unsigned char)given;
    case SHORT: return (unsigned short)given;
    case INT: return (unsigned)given;
    default: return given;
    }
}

static void store_count(const struct spec *f, void *to, size_t n) {
    switch (f->length) {
    case CHAR: *(signed char *)to = (signed char)n; break;
    case SHORT: *(short *)to = (short)n; break;
    case INT: *(int *)to = (int)n; break;
    default: *(long long *)to = (long long)n;
    }
}

/* The neighbouring double on the other side of a number that is not a double. */
static double beyond(double v, int is_above) {
    union {
        double number;
        unsigned long long bits;
    } near = {v};
    if (v == 0) near.bits = is_above ? 1 : 1ull << 63 | 1;
    else near.bits += (v > 0) == is_above ? 1 : -1;
    return near.number;
}

/* The host converts doubles. A long double that is not a double has the text of the doubles on both
 * sides if their texts are equal; otherwise it may have either text. */
static void put_long_double(struct sink *s, const struct spec *f, long double v) {
    double near = (double)v;
    if (f->conversion == 'a' || f->conversion == 'A')
        crunner_unmodelled("the bits of a long double as a text");
    if (v == v && (long double)near != v) {
        char one[400], other[400];
        struct sink a = {one, sizeof one, 0}, b = {other, sizeof other, 0};
        put_float(&a, f, near);
        put_float(&b, f, beyond(near, v > (long double)near));
        int is_one_text = a.at == b.at && a.at <= sizeof one;
        for (size_t i = 0; is_one_text && i < a.at; i++) is_one_text = one[i] == other[i];
        if (!is_one_text && engine_perhaps())
            crunner_unmodelled("the text of a long double that is no double");
    }
    put_float(s, f, near);
}

/* Literal text. */
void NAME(engine_format_text)(struct sink *s, const char *text, size_t n) { put_block(s, text, n); }

/* %d %i %u %o %x %X %b %B. Of the argument, only the low bits that the length modifier selects are
 * used. */
void NAME(engine_format_integer)(struct sink *s, const struct spec *f, unsigned long long given) {
    switch (f->conversion) {
    case 'd':
    case 'i': {
        intmax_t v = signed_argument(f, given);
        put_integer(s, f, v < 0 ? 0 - (uintmax_t)v : (uintmax_t)v, v < 0, 10);
        return;
    }
    case 'u': put_integer(s, f, unsigned_argument(f, given), 0, 10); return;
    case 'o': put_integer(s, f, unsigned_argument(f, given), 0, 8); return;
    case 'b':
    case 'B': put_integer(s, f, unsigned_argument(f, given), 0, 2); return;
    default: put_integer(s, f, unsigned_argument(f, given), 0, 16);
    }
}

void NAME(engine_format_pointer)(struct sink *s, const struct spec *f, void *v) {
    if (v) put_integer(s, f, (uintptr_t)v, 0, 16);
    else put_text(s, f, "(nil)", 5);
}

void NAME(engine_format_character)(struct sink *s, const struct spec *f, int v) {
    char c = (char)v;
    put_text(s, f, &c, 1);
}

void NAME(engine_format_string)(struct sink *s, const struct spec *f, const char *text) {
    if (!text) text = f->precision >= 0 && f->precision < 6 ? "" : "(null)";
    put_text(s, f, text,
             f->precision >= 0 ? NAME(strnlen)(text, (size_t)f->precision) : NAME(strlen)(text));
}

void NAME(engine_format_double)(struct sink *s, const struct spec *f, double v) {
    put_float(s, f, v);
}

/* The precision of %.*s; a negative one counts as absent. */
void NAME(engine_format_precision)(struct spec *f, int precision) {
    f->precision = precision < 0 ? -1 : precision;
}

/* Terminates the text and returns its length. */
int NAME(engine_format_end)(struct sink *s) {
    int ok = s->at <= INT_MAX;
    if (!ok) engine_errno = ENGINE_EOVERFLOW;
    if (s->room) s->to[s->at < s->room ? s->at : s->room - 1] = 0;
    return ok ? (int)s->at : -1;
}

static unsigned long long integer_argument(const struct spec *f, va_list *args) {
    return f->length > INT ? va_arg(*args, unsigned long long) : va_arg(*args, unsigned);
}

/* Formats one conversion; returns 0 if the call fails. */
static int convert(struct sink *s, struct spec *f, va_list *args) {
    /* POSIX's names for %lc and %ls. */
    if (f->conversion == 'C' || f->conversion == 'S') {
        f->conversion = f->conversion - 'A' + 'a';
        f->length = LONG;
    }
    switch (f->conversion) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
    case 'b':
    case 'B': NAME(engine_format_integer)(s, f, integer_argument(f, args)); return 1;
    case 'p': NAME(engine_format_pointer)(s, f, va_arg(*args, void *)); return 1;
    case 'c': {
        int v = va_arg(*args, int);
        if (f->length == LONG) return put_wide(s, f, &v, 1);
        NAME(engine_format_character)(s, f, v);
        return 1;
    }
    case 's': {
        if (f->length == LONG) {
            const int *wide = va_arg(*args, const int *);
            size_t n = 0;
            while ((f->precision < 0 || n < (size_t)f->precision) && wide[n]) n++;
            return put_wide(s, f, wide, n);
        }
        NAME(engine_format_string)(s, f, va_arg(*args, const char *));
        return 1;
    }
    case 'n': store_count(f, va_arg(*args, void *), s->at); return 1;
    case 'm': {
        char *NAME(strerror)(int);
        NAME(engine_format_string)(s, f, NAME(strerror)(engine_errno));
        return 1;
    }
    case '%': put(s, '%'); return 1;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        if (f->length == LONGDOUBLE) put_long_double(s, f, va_arg(*args, long double));
        else put_float(s, f, va_arg(*args, double));
        return 1;
    /* Numbered arguments (%1$d), or a conversion that C does not define. */
    default: crunner_unmodelled("this conversion of printf"); return 0;
    }
}

int NAME(vsnprintf)(char *restrict to, size_t room, const char *restrict format, va_list given) {
    struct sink s = {to, room, 0};
    va_list args;
    int ok = 1;
    va_copy(args, given);
    for (const char *p = format; ok && *p;) {
        struct spec f = {0};
        if (*p != '%') {
            put(&s, *p++);
            continue;
        }
        for (p++;; p++) {
            if (*p == '-') f.left = 1;
            else if (*p == '+') f.plus = 1;
            else if (*p == ' ') f.space = 1;
            else if (*p == '#') f.alternate = 1;
            else if (*p == '0') f.zero = 1;
            else if (*p == '\'') f.group = 1; /* the C locale does not group digits */
            else break;
        }
        if (*p == '*') {
            f.width = va_arg(args, int);
            if (f.width < 0) f.left = 1, f.width = f.width == INT_MIN ? -1 : -f.width;
            p++;
        } else {
            f.width = number(&p);
        }
        ok = f.width >= 0;
        f.precision = -1;
        if (*p == '.') {
            p++;
            if (*p == '*') {
                NAME(engine_format_precision)(&f, va_arg(args, int));
                p++;
            } else {
                f.precision = number(&p);
                ok = ok && f.precision >= 0;
            }
        }
        p = read_length(p, &f);
        f.conversion = *p;
        if (*p) p++;
        ok = ok && convert(&s, &f, &args);
    }
    va_end(args);
    int n = NAME(engine_format_end)(&s);
    return ok ? n : -1;
}

/* sprintf has no size; the machine checks the limit, which is the object's end. */
int NAME(vsprintf)(char *restrict to, const char *restrict format, va_list args) {
    return NAME(vsnprintf)(to, SIZE_MAX, format, args);
}

#define FORWARD(call) \
    { \
        va_list args; \
        va_start(args, format); \
        int result = call; \
        va_end(args); \
        return result; \
    }
int NAME(snprintf)(char *restrict to, size_t room, const char *restrict format, ...)
    FORWARD(NAME(vsnprintf)(to, room, format, args)) int NAME(sprintf)(char *restrict to,
                                                                       const char *restrict format,
                                                                       ...)
        FORWARD(NAME(vsprintf)(to, format, args))

    /* What _FORTIFY_SOURCE detects: a size beyond the object's end, or output beyond it. */
    void NAME(engine_format_room)(size_t n, size_t room) {
    if (n > room) crunner_violation(1, "buffer overflow detected", 0, 0);
}
void NAME(engine_format_fits)(int n, size_t room) {
    if (n >= 0 && (size_t)n >= room) crunner_violation(1, "buffer overflow detected", 0, 0);
}

/* What _FORTIFY_SOURCE calls instead of the functions above. */
int NAME(__vsnprintf_chk)(char *restrict to, size_t n, int flag, size_t room,
                          const char *restrict format, va_list args) {
    NAME(engine_format_room)(n, room);
    return NAME(vsnprintf)(to, n, format, args);
}
int NAME(__vsprintf_chk)(char *restrict to, int flag, size_t room, const char *restrict format,
                         va_list args) {
    int n = NAME(vsnprintf)(to, room, format, args);
    NAME(engine_format_fits)(n, room);
    return n;
}
int NAME(__snprintf_chk)(char *restrict to, size_t n, int flag, size_t room,
                         const char *restrict format, ...)
    FORWARD(NAME(__vsnprintf_chk)(to, n, flag, room, format, args)) int NAME(__sprintf_chk)(
        char *restrict to, int flag, size_t room, const char *restrict format, ...)
        FORWARD(NAME(__vsprintf_chk)(to, flag, room, format, args))
