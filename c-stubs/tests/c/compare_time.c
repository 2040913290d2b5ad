/* Compares the stubs' calendar and its texts with the platform's. Prints each difference, and
 * returns their number. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

size_t CRUNNER_strftime(char *, size_t, const char *, const struct tm *);
struct tm *CRUNNER_gmtime_r(const time_t *, struct tm *), *CRUNNER_localtime_r(const time_t *, struct tm *);
time_t CRUNNER_timegm(struct tm *), CRUNNER_mktime(struct tm *);
char *CRUNNER_asctime(const struct tm *), *CRUNNER_asctime_r(const struct tm *, char *), *CRUNNER_ctime(const time_t *);

/* What clock.c needs from other files. */
int crunner_assumed(const char *id) { return 1; }
void crunner_assume(int condition) {}
unsigned char crunner_choose_byte(const char *channel) { return 0; }
unsigned crunner_choose_u32(const char *channel) { return 0; }
int crunner_fault(const char *channel, unsigned long long low, unsigned long long high) { return 0; }
void crunner_signals_arrive(void) {}
extern int unmodelled;

static int differences;
static void differ(const char *what, const char *about, long number) {
    differences++;
    printf("%s of \"%s\" at %ld\n", what, about, number);
}
static int alike(const struct tm *a, const struct tm *b) {
    return a->tm_sec == b->tm_sec && a->tm_min == b->tm_min && a->tm_hour == b->tm_hour && a->tm_mday == b->tm_mday && a->tm_mon == b->tm_mon &&
           a->tm_year == b->tm_year && a->tm_wday == b->tm_wday && a->tm_yday == b->tm_yday && a->tm_gmtoff == b->tm_gmtoff && !strcmp(a->tm_zone, b->tm_zone);
}

static void texts(const struct tm *t, long at) {
    static const char *flags[] = {"", "-", "_", "0", "^", "#", "3", "6", "-4", "_5", "05", "^9", "#12", "E", "3E"};
    for (unsigned f = 0; f < sizeof flags / sizeof *flags; f++)
        for (const char *c = "aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%"; *c; c++)
            for (unsigned room = 4; room < 80; room += 75) {
                char format[16], a[96] = "", b[96] = "";
                snprintf(format, sizeof format, "<%%%s%c>", flags[f], *c);
                unmodelled = 0;
                size_t m = CRUNNER_strftime(b, room, format, t);
                if (unmodelled) continue;
                size_t n = strftime(a, room, format, t);
                if (n != m || (n && strcmp(a, b))) {
                    differ("strftime", format, at);
                    printf("    %zu \"%s\", engine %zu \"%s\"\n", n, a, m, b);
                }
            }
}

int time_differences(void) {
    setenv("TZ", "UTC", 1);
    tzset();
    static const long times[] = {0, 1, -1, 86399, 951782400, 1609459200, 1230768000, 1609372799, -2208988800, 253402300799, 253402300800, -62135596800, -62167219201,
        67768036191676799, 67768036191676800, -67768040609740800, -67768040609740801, LONG_MAX, LONG_MIN};
    for (unsigned i = 0; i < sizeof times / sizeof *times; i++) {
        time_t t = times[i];
        struct tm a, b;
        char c[64], d[64];
        int known = gmtime_r(&t, &a) != 0;
        if (known != (CRUNNER_gmtime_r(&t, &b) != 0) || (known && !alike(&a, &b))) differ("gmtime_r", "", t);
        if (!known) continue;
        texts(&a, t);
        struct tm x = a, y = a;
        if (timegm(&x) != t || CRUNNER_timegm(&y) != t) differ("timegm", "", t);
        const char *p = asctime(&a), *q = CRUNNER_asctime(&a);
        if (!p != !q || (p && strcmp(p, q))) differ("asctime", p ? p : "", t);
        p = asctime_r(&a, c), q = CRUNNER_asctime_r(&a, d);
        if (!p != !q || (p && strcmp(p, q))) differ("asctime_r", p ? p : "", t);
        p = ctime(&t), q = CRUNNER_ctime(&t);
        if (!p != !q || (p && strcmp(p, q))) differ("ctime", p ? p : "", t);
        for (int dst = -1; dst < 2; dst++) {
            x = y = a;
            x.tm_isdst = y.tm_isdst = dst;
            if (mktime(&x) != CRUNNER_mktime(&y)) differ("mktime", "", t);
        }
        x = y = a;
        x.tm_mon += 30, y.tm_mon += 30, x.tm_mday -= 45, y.tm_mday -= 45, x.tm_isdst = y.tm_isdst = 0;
        time_t v = timegm(&x), w = CRUNNER_timegm(&y);
        if (v != w || (v != -1 && !alike(&x, &y))) differ("timegm of fields out of range", "", t);
    }
    struct tm odd = {.tm_wday = 9, .tm_mon = 12, .tm_mday = 31, .tm_hour = 23}, last = {.tm_year = INT_MAX, .tm_mon = 12}, copy = last;
    texts(&odd, 1);
    odd.tm_hour = 25, odd.tm_isdst = -1;
    texts(&odd, 2);
    if (strcmp(asctime(&odd), CRUNNER_asctime(&odd))) differ("asctime", asctime(&odd), 1);
    if (timegm(&last) != CRUNNER_timegm(&copy)) differ("timegm", "", INT_MAX);
    return differences;
}
