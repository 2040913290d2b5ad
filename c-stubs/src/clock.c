/* Time. Each clock advances by a choice each time it is read. It never goes backwards, unless the
 * narrowing "clock" is lifted: a program may measure any duration, but is not blamed for not
 * expecting the past. The calendar is exact. The time zone is UTC or, without the narrowing
 * "identity", another one. The formats are those of the C locale. */
#include "stub.h"
#include <sys/time.h>
#include <time.h>

static long seconds, nanoseconds, ticks;

static long now(void) {
    unsigned more = crunner_choose_u32("time");
    if (more) nanoseconds = 0;
    seconds += more;
    if (!crunner_assumed("clock")) seconds -= crunner_choose_u32("clock_set");
    return seconds;
}

/* The nanoseconds within the second that now() returned. */
static long parts(void) {
    long chosen = crunner_choose_u32("time") % 1000000000;
    if (chosen > nanoseconds || !crunner_assumed("clock")) nanoseconds = chosen;
    return nanoseconds;
}

STUB time_t CRUNNER_time(time_t *into) {
    time_t t = now();
    if (into) *into = t;
    return t;
}

STUB clock_t CRUNNER_clock(void) {
    ticks += crunner_choose_u32("clock");
    /* Some systems cannot measure processor time. */
    if (!crunner_assumed("clock") && (crunner_choose_byte("clock_set") & 1)) return -1;
    return ticks;
}

STUB int CRUNNER_gettimeofday(struct timeval *restrict into, void *restrict zone) {
    if (zone) memset(zone, 0, 8);
    if (!into) return 0;
    into->tv_sec = now();
    into->tv_usec = parts() / 1000;
    return 0;
}

static int no_clock(clockid_t which) {
    if (which >= 0 && which <= 11) return 0;
    stub_errno = STUB_EINVAL;
    return 1;
}

STUB int CRUNNER_clock_gettime(clockid_t which, struct timespec *into) {
    if (no_clock(which)) return -1;
    into->tv_sec = now();
    into->tv_nsec = parts();
    return 0;
}
STUB int CRUNNER_timespec_get(struct timespec *into, int base) {
    return base != TIME_UTC || CRUNNER_clock_gettime(0, into) ? 0 : base;
}

STUB int CRUNNER_clock_getres(clockid_t which, struct timespec *into) {
    if (no_clock(which)) return -1;
    if (into) {
        into->tv_sec = 0;
        into->tv_nsec = 1;
        if (!crunner_assumed("identity"))
            into->tv_nsec += crunner_choose_u32("clock_getres") % 10000000;
    }
    return 0;
}

STUB double CRUNNER_difftime(time_t later, time_t earlier) {
    time_t between;
    return __builtin_sub_overflow(later, earlier, &between) ? (double)later - (double)earlier
                                                            : (double)between;
}

/* ---- the calendar ---- */

static int leap(long year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static int month_days(long year, int month) {
    static const signed char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month] + (month == 1 && leap(year));
}

/* The days from 1970-01-01 to the first of January of `year`. */
static long days_before(long year) {
    long y = year - 1, leaps = 0;
    /* Division rounds towards minus infinity, so that years before 1 are right too. */
    leaps += (y >= 0 ? y / 4 : -((3 - y) / 4)) - (y >= 0 ? y / 100 : -((99 - y) / 100))
             + (y >= 0 ? y / 400 : -((399 - y) / 400));
    return (year - 1970) * 365 + leaps - 477;
}

STUB struct tm *CRUNNER_gmtime_r(const time_t *restrict when, struct tm *restrict into) {
    long days = *when / 86400, rest = *when % 86400, year;
    if (rest < 0) {
        rest += 86400;
        days--;
    }
    year = 1970 + days / 366;
    /* The estimate is too close to 1970 by less than one year in 480. Each iteration reduces the
     * remaining error by the same factor. */
    for (int turn = 0; turn < 4; turn++) year += (days - days_before(year)) / 366;
    for (int turn = 0; turn < 2; turn++)
        year += (days >= days_before(year + 1)) - (days < days_before(year));
    if (year - 1900 > INT_MAX || year - 1900 < INT_MIN) {
        stub_errno = STUB_EOVERFLOW;
        return 0;
    }
    memset(into, 0, sizeof *into);
    into->tm_wday = (int)(((days + 4) % 7 + 7) % 7);
    into->tm_year = (int)(year - 1900);
    into->tm_yday = (int)(days - days_before(year));
    /* Iterates over all months, so that the number of iterations does not depend on the day and no
     * invariant is needed. */
    int month = 0, day = into->tm_yday + 1;
    for (int passed = 0; passed < 11; passed++) {
        int length = month_days(year, passed), is_over = (month == passed) & (day > length);
        day -= is_over ? length : 0;
        month += is_over;
    }
    into->tm_mon = month;
    into->tm_mday = day;
    into->tm_hour = (int)(rest / 3600);
    into->tm_min = (int)(rest / 60 % 60);
    into->tm_sec = (int)(rest % 60);
    into->tm_zone = "GMT";
    return into;
}

static struct tm shared;
STUB struct tm *CRUNNER_gmtime(const time_t *when) { return CRUNNER_gmtime_r(when, &shared); }
/* The offset of the time zone from UTC in seconds, a multiple of 15 minutes; there is no summer
 * time. */
static long zone(void) {
    static unsigned char known, chosen;
    if (crunner_assumed("identity")) return 0;
    if (!known) chosen = crunner_choose_byte("zone");
    known = 1;
    return (long)((chosen + 48) % 105 - 48) * 900; /* from -12 to +14 hours */
}

static char utc[] = "UTC", other_zone[] = "LMT";
STUB char *CRUNNER_tzname[2] = {utc, utc};
STUB long CRUNNER_timezone = 0;
STUB int CRUNNER_daylight = 0;
STUB void CRUNNER_tzset(void) {
    long east = zone();
    CRUNNER_timezone = -east;
    CRUNNER_tzname[0] = CRUNNER_tzname[1] = east ? other_zone : utc;
}

STUB struct tm *CRUNNER_localtime_r(const time_t *restrict when, struct tm *restrict into) {
    long east = zone();
    time_t there;
    if (__builtin_add_overflow(*when, east, &there)) {
        stub_errno = STUB_EOVERFLOW;
        return 0;
    }
    if (!CRUNNER_gmtime_r(&there, into)) return 0;
    into->tm_gmtoff = east;
    into->tm_zone = east ? "LMT" : "UTC";
    /* In time zones that count leap seconds, a minute may have a second 60. */
    if (!crunner_assumed("identity") && into->tm_sec == 59
        && (crunner_choose_byte("zone:leap") & 1))
        into->tm_sec = 60;
    return into;
}
STUB struct tm *CRUNNER_localtime(const time_t *when) {
    CRUNNER_tzset();
    return CRUNNER_localtime_r(when, &shared);
}

static time_t seconds_of(const struct tm *t) {
    long month = t->tm_mon, year = 1900L + t->tm_year, days;
    year += month / 12;
    month %= 12;
    if (month < 0) {
        month += 12;
        year--;
    }
    days = days_before(year) + t->tm_mday - 1;
    for (int m = 0; m < month; m++) days += month_days(year, m);
    return days * 86400 + t->tm_hour * 3600L + t->tm_min * 60L + t->tm_sec;
}
STUB time_t CRUNNER_timegm(struct tm *t) {
    time_t when = seconds_of(t);
    return CRUNNER_gmtime_r(&when, t) ? when : -1;
}
STUB time_t CRUNNER_mktime(struct tm *t) {
    /* If summer time is requested although the zone has none, glibc takes the clock to be an hour
     * ahead. */
    time_t when = seconds_of(t) - zone() - (t->tm_isdst > 0 ? 3600 : 0);
    return CRUNNER_localtime_r(&when, t) ? when : -1;
}

char *const crunner_calendar[STUB_CALENDAR] = {
    "Sun",
    "Mon",
    "Tue",
    "Wed",
    "Thu",
    "Fri",
    "Sat",
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "May",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Oct",
    "Nov",
    "Dec",
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
    "AM",
    "PM",
    "%a %b %e %H:%M:%S %Y",
    "%m/%d/%y",
    "%H:%M:%S",
    "%I:%M:%S %p",
};
/* The start of each group of entries. */
enum {
    SHORT_DAYS = 0,
    DAYS = 7,
    SHORT_MONTHS = 14,
    MONTHS = 26,
    NOON = 38,
    DATE_AND_TIME = 40,
    DATE,
    TIME,
    TIME_BY_NOON
};

struct sink {
    char *to;
    size_t room, at;
};

/* What glibc allows between the '%' and the conversion: the padding and the letter case. A width is
 * not modelled. */
struct filling {
    char with; /* '_' or '0': this padding; '-': none; 0: the conversion's default */
    int is_upper, is_swapped;
};

static void put(struct sink *s, char c) {
    if (s->at < s->room) s->to[s->at] = c;
    s->at++;
}

static void fill(struct sink *s, char c, long n) {
    for (; n > 0; n--) put(s, c);
}

static char in_case(char c, int upper, int lower) {
    if (upper && c >= 'a' && c <= 'z') return (char)(c - 32);
    return lower && c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static void put_text(struct sink *s, const struct filling *f, const char *text, int is_lower) {
    while (*text) put(s, in_case(*text++, f->is_upper && !is_lower, is_lower));
}

static void put_number(struct sink *s, const struct filling *f, long value, int digits,
                       char usual) {
    char text[24], with = f->with ? f->with : usual;
    int n = 0;
    unsigned long v = value < 0 ? -(unsigned long)value : (unsigned long)value;
    if (value < 0 && digits > 1) crunner_unmodelled("a field of a date below zero");
    do text[n++] = (char)('0' + v % 10);
    while (v /= 10);
    if (with == '-') digits = 0;
    /* Spaces come before a sign, and zeros after it. */
    if (with == '_') fill(s, ' ', digits - n - (value < 0));
    if (value < 0) put(s, '-');
    if (with != '_') fill(s, '0', digits - n - (value < 0));
    while (n > 0) put(s, text[--n]);
}

static const char *name_of(int first, int i, int count) {
    return i >= 0 && i < count ? crunner_calendar[first + i] : "?";
}

/* The year and the week of ISO 8601, in which weeks start on Monday: the number of days from the
 * Monday of the first week to this day. */
static long days_from(long yday, long wday) { return yday - (yday - wday + 4 + 378) % 7 + 3; }
static long iso_year(const struct tm *t) {
    long year = 1900L + t->tm_year;
    if (days_from(t->tm_yday, t->tm_wday) < 0) return year - 1;
    return days_from(t->tm_yday - (365 + leap(year)), t->tm_wday) >= 0 ? year + 1 : year;
}
static long iso_week(const struct tm *t) {
    long year = 1900L + t->tm_year, days = days_from(t->tm_yday, t->tm_wday);
    if (days < 0) {
        days = days_from(t->tm_yday + (365 + leap(year - 1)), t->tm_wday);
    } else {
        long next = days_from(t->tm_yday - (365 + leap(year)), t->tm_wday);
        if (next >= 0) days = next;
    }
    return days / 7 + 1;
}

static void format_time(struct sink *s, const char *f, const struct tm *t, int is_upper);

static void put_zone(struct sink *s, const struct filling *f, const struct tm *t) {
    long east = t->tm_gmtoff, size = east < 0 ? -east : east,
         value = size / 3600 * 100 + size / 60 % 60;
    if (t->tm_isdst < 0) return;
    if (f->with == '_') crunner_unmodelled("%_z of strftime");
    put(s, east < 0 ? '-' : '+');
    put_number(s, f, value, 4, '0');
}

static void convert_time(struct sink *s, char conversion, struct filling *f, const struct tm *t) {
    int hour = t->tm_hour > 12 ? t->tm_hour - 12 : t->tm_hour ? t->tm_hour : 12;
    long year = 1900L + t->tm_year;
    switch (conversion) {
    case 'a':
    case 'A':
        f->is_upper |= f->is_swapped;
        put_text(s, f, name_of(conversion == 'a' ? SHORT_DAYS : DAYS, t->tm_wday, 7), 0);
        break;
    case 'b':
    case 'h':
    case 'B':
        f->is_upper |= f->is_swapped;
        put_text(s, f, name_of(conversion == 'B' ? MONTHS : SHORT_MONTHS, t->tm_mon, 12), 0);
        break;
    case 'c': format_time(s, crunner_calendar[DATE_AND_TIME], t, f->is_upper); break;
    case 'C': put_number(s, f, year / 100 - (year % 100 < 0), 1, '0'); break;
    case 'd': put_number(s, f, t->tm_mday, 2, '0'); break;
    case 'D': format_time(s, "%m/%d/%y", t, f->is_upper); break;
    case 'x': format_time(s, crunner_calendar[DATE], t, f->is_upper); break;
    case 'e': put_number(s, f, t->tm_mday, 2, '_'); break;
    case 'F':
        if (f->with || year < 1000)
            crunner_unmodelled("%F of strftime with a flag, or of a year below 1000");
        format_time(s, "%Y-%m-%d", t, f->is_upper);
        break;
    case 'g': put_number(s, f, (iso_year(t) % 100 + 100) % 100, 2, '0'); break;
    case 'G': put_number(s, f, iso_year(t), 1, '0'); break;
    case 'H': put_number(s, f, t->tm_hour, 2, '0'); break;
    case 'I': put_number(s, f, hour, 2, '0'); break;
    case 'j': put_number(s, f, t->tm_yday + 1L, 3, '0'); break;
    case 'k': put_number(s, f, t->tm_hour, 2, '_'); break;
    case 'l': put_number(s, f, hour, 2, '_'); break;
    case 'm': put_number(s, f, t->tm_mon + 1L, 2, '0'); break;
    case 'M': put_number(s, f, t->tm_min, 2, '0'); break;
    case 'n': put_text(s, f, "\n", 0); break;
    case 'p': put_text(s, f, crunner_calendar[NOON + (t->tm_hour > 11)], f->is_swapped); break;
    case 'P': put_text(s, f, crunner_calendar[NOON + (t->tm_hour > 11)], 1); break;
    case 'r': format_time(s, crunner_calendar[TIME_BY_NOON], t, f->is_upper); break;
    case 'R': format_time(s, "%H:%M", t, f->is_upper); break;
    case 's': {
        struct tm copy = *t;
        put_number(s, f, CRUNNER_mktime(&copy), 1, '0');
        break;
    }
    case 'S': put_number(s, f, t->tm_sec, 2, '0'); break;
    case 't': put_text(s, f, "\t", 0); break;
    case 'T': format_time(s, "%H:%M:%S", t, f->is_upper); break;
    case 'X': format_time(s, crunner_calendar[TIME], t, f->is_upper); break;
    case 'u': put_number(s, f, (t->tm_wday + 6L) % 7 + 1, 1, '0'); break;
    case 'U': put_number(s, f, (t->tm_yday + 7L - t->tm_wday) / 7, 2, '0'); break;
    case 'V': put_number(s, f, iso_week(t), 2, '0'); break;
    case 'w': put_number(s, f, t->tm_wday, 1, '0'); break;
    case 'W': put_number(s, f, (t->tm_yday + 7L - (t->tm_wday + 6) % 7) / 7, 2, '0'); break;
    case 'y': put_number(s, f, (year % 100 + 100) % 100, 2, '0'); break;
    case 'Y': put_number(s, f, year, 1, '0'); break;
    case 'z': put_zone(s, f, t); break;
    case 'Z':
        put_text(s, f, t->tm_zone ? t->tm_zone : t->tm_isdst < 0 ? "" : "UTC", f->is_swapped);
        break;
    case '%': put_text(s, f, "%", 0); break;
    default: crunner_unmodelled("this conversion of strftime");
    }
}

/* Whether the conversion has a variant for another calendar (E) or other digits (O). The C locale
 * has none, so the variant is the same. */
static int takes(char modifier, char conversion) {
    for (const char *c = modifier == 'E' ? "cCxXyY" : "deHImMSuUVwWy"; *c; c++)
        if (*c == conversion) return 1;
    return 0;
}

static void format_time(struct sink *s, const char *f, const struct tm *t, int is_upper) {
    for (; *f; f++) {
        struct filling filling = {.is_upper = is_upper};
        if (*f != '%') {
            put(s, *f);
            continue;
        }
        for (f++; *f == '_' || *f == '-' || *f == '0' || *f == '^' || *f == '#'; f++) {
            if (*f == '^') filling.is_upper = 1;
            else if (*f == '#') filling.is_swapped = 1;
            else filling.with = *f;
        }
        if (*f == '+' || (*f >= '1' && *f <= '9')) {
            crunner_unmodelled("a width in a format of strftime");
            while (*f == '+' || (*f >= '0' && *f <= '9')) f++;
        }
        if (*f == 'E' || *f == 'O') {
            if (!takes(*f, f[1])) crunner_unmodelled("this %E or %O of strftime");
            f += f[1] != 0;
        }
        /* The result for a '%' at the end of the format depends on the library. */
        if (!*f) {
            crunner_unmodelled("a format of strftime that ends in the middle");
            return;
        }
        convert_time(s, *f, &filling, t);
    }
}

STUB size_t CRUNNER_strftime(char *restrict to, size_t room, const char *restrict format,
                             const struct tm *restrict t) {
    struct sink s = {to, room, 0};
    if (t->tm_year > INT_MAX - 1900) crunner_unmodelled("a year that is no int");
    format_time(&s, format, t, 0);
    if (s.at >= room) return 0;
    to[s.at] = 0;
    return s.at;
}

static char *text_of(const struct tm *t, char *to, size_t room) {
    const char *day = t->tm_wday < 0 || t->tm_wday > 6 ? "???"
                                                       : crunner_calendar[SHORT_DAYS + t->tm_wday];
    const char *month = t->tm_mon < 0 || t->tm_mon > 11
                            ? "???"
                            : crunner_calendar[SHORT_MONTHS + t->tm_mon];
    int year;
    if (!__builtin_add_overflow(t->tm_year, 1900, &year)) {
        int n = snprintf(to, room, "%.3s %.3s%3d %.2d:%.2d:%.2d %d\n", day, month, t->tm_mday,
                         t->tm_hour, t->tm_min, t->tm_sec, year);
        if (n < 0) return 0;
        if ((size_t)n < room) return to;
    }
    stub_errno = STUB_EOVERFLOW;
    return 0;
}

STUB char *CRUNNER_asctime_r(const struct tm *restrict t, char *restrict to) {
    return text_of(t, to, 26);
}
STUB char *CRUNNER_asctime(const struct tm *t) {
    static char text[114];
    return text_of(t, text, sizeof text);
}
STUB char *CRUNNER_ctime_r(const time_t *when, char *to) {
    struct tm t;
    return CRUNNER_localtime_r(when, &t) ? CRUNNER_asctime_r(&t, to) : 0;
}
STUB char *CRUNNER_ctime(const time_t *when) {
    struct tm *t = CRUNNER_localtime(when);
    return t ? CRUNNER_asctime(t) : 0;
}

/* ---- sleeping takes at least the time that was asked for, unless a signal handler ends it ---- */

STUB void crunner_time_passes(long s, long ns) {
    long fraction = nanoseconds + ns % 1000000000,
         whole = s + ns / 1000000000 + fraction / 1000000000;
    /* Runs that would sleep until the clock overflows are rejected. */
    crunner_assume(s < LONG_MAX / 4 && seconds < LONG_MAX / 4);
    nanoseconds = fraction % 1000000000;
    seconds += whole;
}

static int invalid(const struct timespec *t) {
    if (t->tv_nsec >= 0 && t->tv_nsec <= 999999999 && t->tv_sec >= 0) return 0;
    stub_errno = STUB_EINVAL;
    return 1;
}

STUB unsigned CRUNNER_sleep(unsigned s) {
    crunner_signals_arrive();
    unsigned left = 0;
    if (!crunner_assumed("io") && s && (crunner_choose_byte("sleep") & 1))
        left = 1 + crunner_choose_u32("sleep") % s;
    crunner_time_passes((long)(s - left), 0);
    return left;
}
STUB int CRUNNER_usleep(unsigned us) {
    if (crunner_fault("usleep", E(EINTR) | E(EINVAL), 0)) return -1;
    crunner_time_passes((long)(us / 1000000), (long)(us % 1000000) * 1000);
    return 0;
}
STUB int CRUNNER_nanosleep(const struct timespec *wanted, struct timespec *left) {
    if (invalid(wanted)) return -1;
    if (!crunner_fault("nanosleep", E(EINTR), 0)) {
        crunner_time_passes(wanted->tv_sec, wanted->tv_nsec);
        return 0;
    }
    if (left) {
        time_t whole = crunner_choose_u32("nanosleep") % ((unsigned long)wanted->tv_sec + 1);
        long below = whole == wanted->tv_sec ? wanted->tv_nsec + 1 : 1000000000;
        left->tv_nsec = crunner_choose_u32("nanosleep") % below;
        left->tv_sec = whole;
    }
    return -1;
}
/* Returns the error and preserves errno. */
STUB int CRUNNER_clock_nanosleep(clockid_t which, int flags, const struct timespec *wanted,
                                 struct timespec *left) {
    int before = stub_errno;
    struct timespec rest = *wanted;
    if ((flags & TIMER_ABSTIME) && !invalid(wanted)) {
        int over = wanted->tv_sec < seconds
                   || (wanted->tv_sec == seconds && wanted->tv_nsec <= nanoseconds);
        rest.tv_sec = over ? 0 : wanted->tv_sec - seconds - (wanted->tv_nsec < nanoseconds);
        rest.tv_nsec = over ? 0 : (wanted->tv_nsec - nanoseconds + 1000000000) % 1000000000;
    }
    int failed = CRUNNER_nanosleep(&rest, flags & TIMER_ABSTIME ? 0 : left), error = stub_errno;
    stub_errno = before;
    return failed ? error : 0;
}
STUB int CRUNNER_sched_yield(void) {
    crunner_signals_arrive();
    return 0;
}
