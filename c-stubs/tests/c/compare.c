/* Compares the engine's formatter, scanner and conversions with the platform's, over many formats
 * and values. The engine-only sources are compiled with CRUNNER_ENGINE_TEST, which renames them.
 * Prints each difference. */
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int engine_vsnprintf(char *to, size_t n, const char *format, va_list args);
int engine_vsscanf(const char *text, const char *format, va_list args);
long long engine_strtoll(const char *, char **, int);
unsigned long long engine_strtoull(const char *, char **, int);
double engine_strtod(const char *, char **);
float engine_strtof(const char *, char **);
long long engine___isoc23_strtoll(const char *, char **, int);
const unsigned short **engine___ctype_b_loc(void);
const int **engine___ctype_tolower_loc(void), **engine___ctype_toupper_loc(void);
char *engine_strerror(int);
char *engine_strsignal(int);
const char *engine_gai_strerror(int);
int *engine___errno_location(void);

/* Like the machine, these use the host's functions. */
int crunner_format_float(char *to, size_t n, const char *spec, double v) { return snprintf(to, n, spec, v); }
double crunner_parse_float(const char *from, size_t n) {
    char text[1024];
    memcpy(text, from, n < 1023 ? n : 1023);
    text[n < 1023 ? n : 1023] = 0;
    return strtod(text, NULL);
}
int unmodelled;
void crunner_unmodelled(const char *what) { unmodelled = 1; }
/* The scanner's source is a string here. */
int CRUNNER_fgetc(void *s) { return -1; }
int CRUNNER_ungetc(int c, void *s) { return c; }
void *CRUNNER_stdin, *CRUNNER_stdout;
void crunner_violation(int kind, const char *what, const char *file, unsigned line) { abort(); }
void *crunner_granted_realloc(void *block, size_t n) { return realloc(block, n); }

static int differences, compared;
int wide_differences(void), time_differences(void);

static void format(size_t room, const char *f, ...) {
    char a[2048], b[2048];
    va_list x, y;
    memset(a, '#', sizeof a);
    memset(b, '#', sizeof b);
    va_start(x, f);
    va_copy(y, x);
    int n = vsnprintf(a, room, f, x), m = engine_vsnprintf(b, room, f, y);
    va_end(y);
    va_end(x);
    compared++;
    if (n != m || memcmp(a, b, sizeof a)) {
        differences++;
        printf("format \"%s\" room %zu: %d \"%.80s\", engine %d \"%.80s\"\n", f, room, n, a, m, b);
    }
}

static void scan(const char *text, const char *f, int arguments) {
    static union { char bytes[64]; long double aligned; } a[3], b[3];
    memset(a, 0x5a, sizeof a);
    memset(b, 0x5a, sizeof b);
    int n = sscanf(text, f, &a[0], &a[1], &a[2]);
    int call(const char *t, const char *g, ...);
    int m = call(text, f, &b[0], &b[1], &b[2]);
    compared++;
    if (n != m || memcmp(a, b, sizeof a)) {
        differences++;
        printf("scan \"%s\" of \"%s\": %d, engine %d\n", f, text, n, m);
    }
}
int call(const char *t, const char *g, ...) {
    va_list x;
    va_start(x, g);
    int n = engine_vsscanf(t, g, x);
    va_end(x);
    return n;
}

int main(void) {
    static const char *flags[] = {"", "-", "+", " ", "#", "0", "-0", "+0", "# ", "-+#", "0#", "'"};
    static const char *widths[] = {"", "1", "5", "12"}, *precisions[] = {"", ".", ".0", ".1", ".4", ".15"};
    static const long long values[] = {0, 1, -1, 7, -42, 255, 4096, 123456789, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX};
    static const double reals[] = {0, -0.0, 1, -1.5, 0.1, 1e10, 123456.789, 1e-7, 1e300, -5e-324, 1.0 / 0, -1.0 / 0};
    static const char *lengths[] = {"", "hh", "h", "l", "ll", "j", "z", "t"};
    char f[64];
    for (unsigned i = 0; i < 12; i++)
        for (unsigned w = 0; w < 4; w++)
            for (unsigned p = 0; p < 6; p++) {
                for (const char *c = "diuoxXb"; *c; c++)
                    for (unsigned l = 0; l < 8; l++)
                        for (unsigned v = 0; v < 12; v++) {
                            snprintf(f, sizeof f, "<%%%s%s%s%s%c>", flags[i], widths[w], precisions[p], lengths[l], *c);
                            if (l < 3) format(64, f, (int)values[v]);
                            else format(v % 2 ? 64 : 9, f, values[v]);
                        }
                for (const char *c = "eEfFgGaA"; *c; c++)
                    for (unsigned v = 0; v < 12; v++) {
                        snprintf(f, sizeof f, "<%%%s%s%s%c>", flags[i], widths[w], precisions[p], *c);
                        format(v % 2 ? 512 : 9, f, reals[v]);
                    }
                if (i < 4) {
                    snprintf(f, sizeof f, "<%%%s%s%ss|%%%s%sc>", flags[i], widths[w], precisions[p], flags[i], widths[w]);
                    format(64, f, "hello", 'x');
                    format(4, f, "", 0);
                    format(64, f, (char *)NULL, 'y');
                    snprintf(f, sizeof f, "<%%%s%sp>", flags[i], widths[w]);
                    format(64, f, (void *)0x1234);
                    format(64, f, NULL);
                    snprintf(f, sizeof f, "<%%%s%slc>", flags[i], widths[w]);
                    format(64, f, 0);
                }
            }
    format(64, "%d%%%s%*d%-*d|%.*s", 1, "ab", 5, 2, -6, 3, 2, "xyz");
    format(0, "%d", 12345);
    format(1, "%s", "abc");
    format(64, "%ls|%lc", L"wide", L'w');
    format(64, "%.3ls", L"wide");

    static const char *texts[] = {"", " ", "0", "12", "-12", "+7", "0x1f", "0x", "0xg", "077", "99999999999999999999", "-99999999999999999999",
        "4294967296", "abc", "1.5", "-.5e3", "1e", "1e+", ".", "inf", "INFINITY", "nan", "infx", "0x1.8p1", "12abc", "  3 4", "a,b", "[x]", "3,4,5", "-", "+-1",
        "1 2 3", "hello world", "\n\t5", "12%", "18446744073709551615", "-9223372036854775808"};
    static const char *formats[] = {"%d", "%i", "%u", "%x", "%o", "%ld", "%lld", "%hhd", "%hd", "%lu", "%2d", "%1i", "%3x", "%s", "%3s", "%c", "%2c",
        "%[a-z]", "%[^,]", "%3[0-9]", "%lf", "%f", "%4lf", "%d%d", "%d %d %d", "%d,%d,%d", "%*d%d", "%d%n", "%s%s", "%d%%", " %d", "%[]x]", "[%c]",
        "%dabc", "%lf%s", "%x%s", "%[c-a]", "%[a-c-e]", "%[^z-a]", "%[]-a]", "%[--1]", "%[a-]", "%[1-3-]"};
    for (unsigned t = 0; t < sizeof texts / sizeof *texts; t++) {
        char *x, *y;
        for (unsigned i = 0; i < sizeof formats / sizeof *formats; i++) scan(texts[t], formats[i], 3);
        for (int base = 0; base <= 36; base++) {
            if (base == 1) continue;
            errno = *engine___errno_location() = 0;
            long long a = strtoll(texts[t], &x, base);
            int e = errno;
            long long b = engine_strtoll(texts[t], &y, base);
            unsigned long long c = strtoull(texts[t], &x, base), d = engine_strtoull(texts[t], &y, base);
            compared++;
            if (a != b || c != d || x != y || e != *engine___errno_location()) differences++, printf("strtoll %s base %d\n", texts[t], base);
        }
    }
    static const char *numbers[] = {"1e400", "-1e400", "1e-400", "4e-320", "2.2250738585072014e-308", "0e-999", "0x0p-9999", "1e39", "1e-39", "1e-46",
        "1.17549435e-38", "3.4028235e38", "3.5e38", "16777217", "16777219", "0.1", "1e-45", "7e-46", "nan(12)", "-0.0"};
    for (unsigned t = 0; t < sizeof texts / sizeof *texts + sizeof numbers / sizeof *numbers; t++) {
        const char *text = t < sizeof texts / sizeof *texts ? texts[t] : numbers[t - sizeof texts / sizeof *texts];
        char *x, *y;
        errno = *engine___errno_location() = 0;
        double a = strtod(text, &x), b = engine_strtod(text, &y);
        compared += 2;
        if (memcmp(&a, &b, sizeof a) || x != y || errno != *engine___errno_location()) differences++, printf("strtod %s\n", text);
        errno = *engine___errno_location() = 0;
        float c = strtof(text, &x), d = engine_strtof(text, &y);
        if (memcmp(&c, &d, sizeof c) || x != y || errno != *engine___errno_location()) differences++, printf("strtof %s %d\n", text, errno);
    }
    /* Not every platform has the functions of C23. */
    char *end;
    const char *binary = "0b101";
    if (engine___isoc23_strtoll(binary, &end, 0) != 5 || *end || engine_strtoll(binary, &end, 0) != 0 || end != binary + 1 ||
        engine___isoc23_strtoll("0b2", &end, 2) != 0 || *end != 'b')
        differences++, printf("strtoll of a binary number\n");
    for (int c = -128; c < 256; c++)
        if ((*__ctype_b_loc())[c] != (*engine___ctype_b_loc())[c] || (*__ctype_tolower_loc())[c] != (*engine___ctype_tolower_loc())[c] ||
            (*__ctype_toupper_loc())[c] != (*engine___ctype_toupper_loc())[c])
            differences++, printf("ctype %d\n", c);
    for (int e = -2; e < 140; e++)
        if (strcmp(strerror(e), engine_strerror(e))) differences++, printf("strerror %d\n", e);
    for (int n = -2; n < 70; n++)
        if (strcmp(strsignal(n), engine_strsignal(n))) differences++, printf("strsignal %d\n", n);
    for (int e = -260; e < 20; e++)
        if (strcmp(gai_strerror(e), engine_gai_strerror(e))) differences++, printf("gai_strerror %d\n", e);
    differences += wide_differences() + time_differences();
    printf("%d compared, %d differences\n", compared, differences);
    return differences != 0;
}
