/* scanf's conversions, for streams and, in the engine, for strings. The scanner reads at most one
 * character ahead and puts it back, so that the position of a stream is the one that C requires. */
#include "allocation.h"
#include "scan.h"

static int next(struct crunner_source *s) {
    int c;
    if (s->from) c = CRUNNER_fgetc(s->from);
    else c = s->taken < s->length ? (unsigned char)s->text[s->taken] : -1;
    if (c >= 0) s->taken++;
    return c;
}

static void back(struct crunner_source *s, int c) {
    if (c < 0) return;
    s->taken--;
    if (s->from) CRUNNER_ungetc(c, s->from);
}

static int is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static int skip_spaces(struct crunner_source *s) {
    int c;
    do c = next(s);
    while (is_space(c));
    back(s, c);
    return c;
}

enum size { SIZE_CHAR, SIZE_SHORT, SIZE_INT, SIZE_LONG, SIZE_LONGDOUBLE };

static void store(void *to, enum size size, unsigned long long v) {
    switch (size) {
    case SIZE_CHAR: *(unsigned char *)to = (unsigned char)v; break;
    case SIZE_SHORT: *(unsigned short *)to = (unsigned short)v; break;
    case SIZE_INT: *(unsigned *)to = (unsigned)v; break;
    default: *(unsigned long long *)to = v;
    }
}

static int digit_of(int c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
    return 99;
}

enum outcome { DONE, MISMATCH, INPUT_END };

/* Scans an integer of at most `width` characters. Saturates like strtoll and strtoull, to which C
 * refers. */
static enum outcome scan_integer(struct crunner_source *s, long width, int base, int is_signed,
                                 unsigned long long *value) {
    unsigned long long v = 0;
    int c = next(s), negative = 0, any = 0, overflow = 0;
    if (c < 0) return INPUT_END;
    if (c == '+' || c == '-') {
        negative = c == '-';
        if (--width == 0) return MISMATCH;
        c = next(s);
    }
    if ((base == 0 || base == 16) && c == '0' && width > 0) {
        any = 1;
        width--;
        c = width > 0 ? next(s) : -2;
        if (c == 'x' || c == 'X') {
            base = 16;
            /* glibc reads "0x" without a digit as 0, although C requires a failure. */
            width--;
            c = width > 0 ? next(s) : -2;
        } else if (base == 0) {
            base = 8;
        }
    }
    if (base == 0) base = 10;
    while (c >= 0 && width > 0 && digit_of(c) < base) {
        any = 1;
        if (__builtin_mul_overflow(v, (unsigned long long)base, &v)
            || __builtin_add_overflow(v, (unsigned long long)digit_of(c), &v))
            overflow = 1;
        width--;
        c = width > 0 ? next(s) : -2;
    }
    back(s, c);
    if (!any) return MISMATCH;
    if (is_signed) {
        unsigned long long most = (unsigned long long)LLONG_MAX + (unsigned)negative;
        if (overflow || v > most) v = most;
        *value = negative ? 0 - v : v;
    } else {
        *value = overflow ? ULLONG_MAX : negative ? 0 - v : v;
    }
    return DONE;
}

#define FLOAT_TEXT 512

/* Takes the longest text that can be a prefix of a number, as C 7.21.6.2 requires. If strtod does
 * not use all of it ("1e"), the rest is lost and the number is still accepted, as in glibc. */
static enum outcome scan_float(struct crunner_source *s, long width, enum size size, void *to) {
    char text[FLOAT_TEXT];
    size_t n = 0;
    int c = next(s), hex = 0, digits = 0, point = 0, exponent = 0;
    const char *word = 0;
    if (c < 0) return INPUT_END;
    int is_cut = width > FLOAT_TEXT - 1;
    if (is_cut) width = FLOAT_TEXT - 1;
    while (c >= 0 && width > 0) {
        int low = c >= 'A' && c <= 'Z' ? c + 32 : c, take = 0;
        size_t start = n > 0 && (text[0] == '+' || text[0] == '-');
        if (word) {
            take = *word && low == *word;
            word += take;
        } else if (c == '+' || c == '-') {
            take = n == 0 || (exponent && digit_of(text[n - 1]) == (hex ? 25 : 14));
        } else if (n == start && (low == 'i' || low == 'n')) {
            word = low == 'i' ? "nfinity" : "an";
            take = 1;
        } else if (digit_of(c) < (hex && !exponent ? 16 : 10)) {
            take = 1;
            if (exponent) exponent = 2;
            else digits++;
        } else if (low == 'x' && n == start + 1 && text[start] == '0') {
            take = hex = 1;
            digits = 0;
        } else if (c == '.' && !point && !exponent) {
            take = point = 1;
        } else if (low == (hex ? 'p' : 'e') && digits && !exponent) {
            take = exponent = 1;
        }
        if (!take) break;
        text[n++] = (char)c;
        width--;
        if (word && word[0] == 'i' && word[-1] == 'f') {
            /* "inf" is complete; only "infinity" may follow. */
            int ahead = width > 0 ? next(s) : -2;
            if (ahead != 'i' && ahead != 'I') {
                back(s, ahead);
                c = -2;
                break;
            }
            c = ahead;
            continue;
        }
        c = width > 0 ? next(s) : -2;
    }
    back(s, c);
    if (is_cut && n == FLOAT_TEXT - 1) crunner_unmodelled("a number of more than 511 characters");
    text[n] = 0;
    if (n == 0) return MISMATCH;
    char *end;
    float single = 0;
    double number = 0;
    long double extended = 0;
    if (size == SIZE_LONG) number = strtod(text, &end);
    else if (size == SIZE_LONGDOUBLE) extended = strtold(text, &end);
    else single = strtof(text, &end);
    if (end == text || (hex && !digits) || (word && *end)) return MISMATCH;
    if (!to) return DONE;
    if (size == SIZE_LONG) *(double *)to = number;
    else if (size == SIZE_LONGDOUBLE) *(long double *)to = extended;
    else *(float *)to = single;
    return DONE;
}

static void include(unsigned char set[32], unsigned c) {
    set[c / 8] |= (unsigned char)(1u << c % 8);
}

/* Reads the set of %[...]: one bit per character. Returns the rest of the format, or NULL if the
 * set is not closed. A '-' stands for the range from the character before it to the one after it;
 * if it is the first or last character or the range is empty, it stands for itself. */
static const char *read_set(const char *p, unsigned char set[32]) {
    int invert = *p == '^';
    for (int i = 0; i < 32; i++) set[i] = 0;
    if (invert) p++;
    if (*p == ']' || *p == '-') include(set, (unsigned char)*p++);
    for (; *p && *p != ']'; p++) {
        unsigned before = (unsigned char)p[-1], behind = (unsigned char)p[1];
        if (*p == '-' && behind && behind != ']' && before <= behind)
            for (unsigned c = before; c < behind; c++) include(set, c);
        else include(set, (unsigned char)*p);
    }
    if (invert)
        for (int i = 0; i < 32; i++) set[i] ^= 0xff;
    return *p ? p + 1 : 0;
}

/* Reads characters into `to` (NULL: nowhere) or, with `grown`, into a growing block. Without `set`,
 * reads up to a space. */
static enum outcome scan_text(struct crunner_source *s, long width, const unsigned char *set,
                              int terminate, char *to, char **grown) {
    size_t n = 0, room = 0, most = (size_t)width;
    char *block = 0;
    int c = next(s);
    if (c < 0) return INPUT_END;
    while (c >= 0) {
        if (terminate && (set ? !(set[c / 8] >> c % 8 & 1) : is_space(c))) break;
        if (grown && n + 1 >= room) {
            char *bigger = crunner_granted_realloc(block, room = room ? room * 2 : 32);
            if (!bigger) {
                free(block);
                return INPUT_END;
            }
            block = to = bigger;
        }
        if (to) to[n] = (char)c;
        if (++n == most) {
            c = -2;
            break;
        }
        c = next(s);
    }
    back(s, c);
    if (n == 0) {
        free(block);
        return MISMATCH;
    }
    if (to && terminate) to[n] = 0;
    if (grown) *grown = block;
    return DONE;
}

/* Handles the end of the input before anything was assigned. */
static int at_end(struct crunner_source *s) {
    if (!s->assigned) s->assigned = -1;
    return 0;
}

STUB int crunner_scan_blank(struct crunner_source *s) {
    skip_spaces(s);
    return 1;
}

/* Matches an ordinary character of the format. For "%%", which skips spaces first, the blank is a
 * separate part. */
STUB int crunner_scan_character(struct crunner_source *s, int wanted) {
    int c = next(s);
    if (c == wanted) return 1;
    back(s, c);
    return c < 0 ? at_end(s) : 0;
}

/* Updates the number of assignments for the outcome of a conversion. */
static int settled(struct crunner_source *s, const struct crunner_conversion *f,
                   enum outcome outcome) {
    if (outcome == INPUT_END) return at_end(s);
    if (outcome != DONE) return 0;
    s->assigned += !f->suppress;
    return 1;
}

/* %d %i %u %o %x %X %p */
STUB int crunner_scan_integer(struct crunner_source *s, const struct crunner_conversion *f,
                              void *to) {
    int base = 10;
    unsigned long long v = 0;
    if (skip_spaces(s) < 0) return at_end(s);
    switch (f->conversion) {
    case 'i': base = 0; break;
    case 'o': base = 8; break;
    case 'p':
    case 'x':
    case 'X': base = 16; break;
    }
    enum outcome outcome = scan_integer(s, f->width ? f->width : LONG_MAX, base,
                                        f->conversion == 'd' || f->conversion == 'i', &v);
    if (outcome == DONE && to) store(to, f->conversion == 'p' ? SIZE_LONG : (enum size)f->size, v);
    return settled(s, f, outcome);
}

/* %e %f %g %a */
STUB int crunner_scan_real(struct crunner_source *s, const struct crunner_conversion *f, void *to) {
    if (skip_spaces(s) < 0) return at_end(s);
    return settled(s, f, scan_float(s, f->width ? f->width : LONG_MAX, (enum size)f->size, to));
}

/* %c %s %[...] */
STUB int crunner_scan_text(struct crunner_source *s, const struct crunner_conversion *f, void *to) {
    int is_one = f->conversion == 'c', is_set = f->conversion == '[';
    if (f->size == SIZE_LONG) crunner_unmodelled("wide characters from scanf");
    if (f->conversion == 's' && skip_spaces(s) < 0) return at_end(s);
    long most = f->width ? f->width : is_one ? 1 : LONG_MAX;
    char **grown = f->allocate ? to : 0;
    enum outcome outcome = scan_text(s, most, is_set ? f->set : 0, !is_one, f->allocate ? 0 : to,
                                     grown);
    /* The text that was stored is terminated. The separate test lets proofs distinguish this
     * outcome from the others. */
    if (outcome == DONE) return settled(s, f, DONE);
    return settled(s, f, outcome);
}

/* %n */
STUB int crunner_scan_count(struct crunner_source *s, const struct crunner_conversion *f,
                            void *to) {
    if (to) store(to, (enum size)f->size, s->taken);
    return 1;
}

static int scan_conversion(struct crunner_source *s, const struct crunner_conversion *f, void *to) {
    switch (f->conversion) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
    case 'p': return crunner_scan_integer(s, f, to);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': return crunner_scan_real(s, f, to);
    case 'c':
    case 's':
    case '[': return crunner_scan_text(s, f, to);
    case 'n': return crunner_scan_count(s, f, to);
    /* Numbered arguments (%1$d), or a conversion that C does not define. */
    default:
        crunner_unmodelled("this conversion of scanf");
        return skip_spaces(s) < 0 ? at_end(s) : 0;
    }
}

/* Reads a conversion after its '%'. Returns the rest of the format, or NULL if the conversion is
 * incomplete. */
static const char *read_conversion(const char *p, struct crunner_conversion *f) {
    f->width = 0;
    f->size = SIZE_INT;
    f->suppress = f->allocate = 0;
    if (*p == '*') f->suppress = 1, p++;
    for (; *p >= '0' && *p <= '9'; p++)
        if (f->width < INT_MAX) f->width = f->width * 10 + (*p - '0');
    if (*p == 'm') f->allocate = 1, p++;
    for (;; p++) {
        if (*p == 'h') f->size = f->size == SIZE_SHORT ? SIZE_CHAR : SIZE_SHORT;
        else if (*p == 'l' || *p == 'j' || *p == 'z' || *p == 't' || *p == 'q') f->size = SIZE_LONG;
        else if (*p == 'L') f->size = SIZE_LONGDOUBLE;
        else break;
    }
    f->conversion = *p;
    if (!*p++) return 0;
    return f->conversion == '[' ? read_set(p, f->set) : p;
}

/* Whether a character of the format is a space. Separate from is_space(), which the engine also
 * uses for the input. */
static int is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

STUB int crunner_scan(struct crunner_source *s, const char *format, va_list given) {
    va_list args;
    int goes_on = 1;
    va_copy(args, given);
    s->assigned = 0;
    for (const char *p = format; goes_on && p && *p;) {
        struct crunner_conversion f;
        if (is_blank(*p)) {
            goes_on = crunner_scan_blank(s);
            p++;
        } else if (*p != '%' || p[1] == '%') {
            if (*p == '%') p++, crunner_scan_blank(s);
            goes_on = crunner_scan_character(s, (unsigned char)*p++);
        } else if ((p = read_conversion(p + 1, &f))) {
            void *to = f.suppress ? 0 : va_arg(args, void *);
            goes_on = scan_conversion(s, &f, to);
        }
    }
    va_end(args);
    return s->assigned;
}

STUB int CRUNNER_vfscanf(stream *restrict from, const char *restrict format, va_list args) {
    struct crunner_source s = {.from = from};
    return crunner_scan(&s, format, args);
}
STUB int CRUNNER_vscanf(const char *restrict format, va_list args) {
    return CRUNNER_vfscanf(CRUNNER_stdin, format, args);
}
STUB int CRUNNER_fscanf(stream *restrict from, const char *restrict format, ...) {
    va_list args;
    va_start(args, format);
    int n = CRUNNER_vfscanf(from, format, args);
    va_end(args);
    return n;
}
STUB int CRUNNER_scanf(const char *restrict format, ...) {
    va_list args;
    va_start(args, format);
    int n = CRUNNER_vfscanf(CRUNNER_stdin, format, args);
    va_end(args);
    return n;
}
