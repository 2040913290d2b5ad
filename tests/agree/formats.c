/* Formats that are literals, which are taken apart before the program runs, and the same ones from memory, which are interpreted:
 * both have one meaning. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

static char format[64];

/* A format that nobody knows before the program runs. */
static const char *read_from_memory(const char *literal)
{
    strcpy(format, literal);
    return format;
}

static int differing;

static void same(const char *what, int m, const char *a, int n, const char *b)
{
    printf("%s: %d %s\n", what, m, a);
    if (m != n || strcmp(a, b)) {
        printf("%s: %d %s, from memory %d %s\n", what, m, a, n, b);
        differing++;
    }
}

#define PRINTED(literal, ...)                                                                         \
    do {                                                                                              \
        char a[256], b[256];                                                                          \
        int m = snprintf(a, sizeof a, literal, __VA_ARGS__);                                          \
        same(literal, m, a, snprintf(b, sizeof b, read_from_memory(literal), __VA_ARGS__), b);        \
        m = snprintf(a, 5, literal, __VA_ARGS__);                                                     \
        same("short", m, a, snprintf(b, 5, read_from_memory(literal), __VA_ARGS__), b);               \
        m = sprintf(a, literal, __VA_ARGS__);                                                         \
        same("no room", m, a, sprintf(b, read_from_memory(literal), __VA_ARGS__), b);                 \
    } while (0)

static void numbers(int x, long long y, const char *text)
{
    int counted;
    PRINTED("%d|%i|%u", x, x, x);
    PRINTED("%5d|%-5d|%05d|%+d|% d", x, x, x, x, x);
    PRINTED("%.3d|%8.3d|%-8.3d|", x, x, x);
    PRINTED("%hhd|%hd|%ld|%lld", x, x, (long)y, y);
    PRINTED("%hhu|%hu|%lu|%zu", x, x, (unsigned long)y, (size_t)y);
    PRINTED("%x|%X|%#x|%#o|%o", x, x, x, x, x);
    PRINTED("%.0d|%.0x|%#.0o", x & 1, x & 1, x & 1);
    PRINTED("%llx|%jd|%td", y, (long)y, (long)y);
    PRINTED("%c|%3c|%-3c|", x, x, x);
    PRINTED("%s|%10s|%-10s|%.2s|", text, text, text, text);
    PRINTED("%.*s|%%|%.*d", x & 7, text, x & 3, x);
    PRINTED("%.*s|%8.*f", -1, text, 2, y / 4.0);
    PRINTED("%f|%.1f|%e|%g|%G", y / 8.0, y / 8.0, y / 8.0, y / 8.0, y / 8.0);
    PRINTED("%8.2f|%-9.1e|%+g|%a", x / 3.0, x / 3.0, x / 3.0, x / 4.0);
    PRINTED("%p", (void *)0);
    PRINTED("plain %s", "text");
    PRINTED("%*d|%n", 6, x, &counted);
}

#define SCANNED(text, literal, kind)                                                                  \
    do {                                                                                              \
        kind a[4][8], b[4][8];                                                                        \
        memset(a, 0, sizeof a);                                                                       \
        memset(b, 0, sizeof b);                                                                       \
        int m = sscanf(text, literal, a[0], a[1], a[2], a[3]);                                        \
        int n = sscanf(text, read_from_memory(literal), b[0], b[1], b[2], b[3]);                      \
        printf("%s: %d\n", literal, m);                                                               \
        if (m != n || memcmp(a, b, sizeof a)) {                                                       \
            printf("%s of %s: %d, from memory %d\n", literal, text, m, n);                            \
            differing++;                                                                              \
        }                                                                                             \
    } while (0)

static void texts(const char *text)
{
    SCANNED(text, "%d %d %d %d", int);
    SCANNED(text, "%i,%x;%o %u", int);
    SCANNED(text, "%2d%3d%*d%n%1d", int);
    SCANNED(text, " %hhd%hd %ld%lld", long long);
    SCANNED(text, "%7s %7[0-9a-f] %c%7[^,]", char);
    SCANNED(text, "%3c%%%2s%n", long long);
    SCANNED(text, "%f %f %f %f", float);
    SCANNED(text, "%lf,%lf;%*f %lf", double);
    SCANNED(text, "x%dy%*[]-z]%3[a-]", int);
}

int main(void)
{
    char line[40];
    int x = 0;
    long y = 0;
    numbers(0, 0, "");
    numbers(-1, -9000000000LL, "a");
    numbers(1234567, 1LL << 62, "several words");
    texts("12 -7 0x1f 010");
    texts("1,ff;17 4");
    texts("123 4567 89 0");
    texts("abc def%gh,i");
    texts("abc%de 5");
    texts("1.5 -2e3 .25 7");
    texts("x4y]-zz-a");
    texts("");
    while (fscanf(stdin, "%d %ld", &x, &y) == 2)
        numbers(x, y, "from outside");
    if (scanf("%39s", line) == 1)
        texts(line);
    fprintf(stderr, "%d differ\n", differing);
    assert(!differing);
    return 0;
}
