/* What a program asks about the system and about itself.
 *
 * All answers are choices, encoded as the bits that differ from the usual answer, so that a tape of
 * zeros is an ordinary process of an ordinary user. While the narrowing "identity" is assumed, the
 * answers are exactly those. What does not change while a process runs is chosen once. The locale
 * is C's. */
#include "stub.h"
#include <locale.h>
#include <sys/resource.h>
#include <sys/utsname.h>

/* A number that does not change: the usual one, or another one. */
static unsigned steady(unsigned *known, const char *channel, unsigned usual, unsigned bits) {
    if (crunner_assumed("identity")) return usual;
    if (!*known) *known = 1 + (usual ^ (crunner_choose_u32(channel) & bits));
    return *known - 1;
}

#define PIDS 0x3fffffu /* the largest pid_max of Linux */
#define USERS 0xffffu

static unsigned process, parent, user, effective_user, group, effective_group;
STUB int crunner_child_number = 0;

static int own(void) {
    unsigned pid = steady(&process, "getpid", 1000, PIDS);
    return pid ? (int)pid : 1;
}
/* 1000 by default; in a child, the number that fork() chose for it. */
STUB int CRUNNER_getpid(void) { return crunner_child_number ? crunner_child_number : own(); }
STUB int CRUNNER_gettid(void) { return CRUNNER_getpid(); }
STUB int CRUNNER_getppid(void) {
    if (crunner_child_number) return own();
    return (int)steady(&parent, "getppid", 999, PIDS);
}
STUB int CRUNNER_getpgrp(void) {
    static unsigned leader;
    unsigned pid = steady(&leader, "getpgrp", 1000, PIDS);
    return pid ? (int)pid : 1;
}
/* The leader of a process group cannot start a new session. */
STUB int CRUNNER_setsid(void) {
    return crunner_fault("setsid", E(EPERM), 0) ? -1 : CRUNNER_getpid();
}
STUB unsigned CRUNNER_getuid(void) { return steady(&user, "getuid", 1000, USERS); }
STUB unsigned CRUNNER_geteuid(void) { return steady(&effective_user, "geteuid", 1000, USERS); }
STUB unsigned CRUNNER_getgid(void) { return steady(&group, "getgid", 1000, USERS); }
STUB unsigned CRUNNER_getegid(void) { return steady(&effective_group, "getegid", 1000, USERS); }
STUB int CRUNNER_getpagesize(void) { return 4096; }

STUB int CRUNNER_gethostname(char *into, size_t n) {
    static const char usual[] = "host";
    char name[65];
    size_t length = sizeof usual - 1;
    memcpy(name, usual, sizeof usual);
    if (!crunner_assumed("identity") && (crunner_choose_byte("gethostname") & 1))
        length = crunner_read_string("gethostname", name, sizeof name);
    if (n <= length) {
        /* As in glibc, the name is truncated and the call fails. */
        memcpy(into, name, n);
        stub_errno = STUB_ENAMETOOLONG;
        return -1;
    }
    memcpy(into, name, length + 1);
    return 0;
}

STUB int CRUNNER_uname(struct utsname *into) {
    memset(into, 0, sizeof *into);
    memcpy(into->sysname, "Linux", 6);
    memcpy(into->nodename, "host", 5);
    memcpy(into->release, "6.1.0", 6);
    memcpy(into->version, "#1", 3);
    memcpy(into->machine, "x86_64", 7);
    if (!crunner_assumed("identity") && (crunner_choose_byte("uname") & 1)) {
        crunner_read_string("uname", into->nodename, sizeof into->nodename);
        crunner_read_string("uname", into->release, sizeof into->release);
        crunner_read_string("uname", into->version, sizeof into->version);
        crunner_read_string("uname", into->machine, sizeof into->machine);
    }
    return 0;
}

/* What Linux guarantees is exact. Other limits are choices, where -1 with unchanged errno means
 * unlimited. */
STUB long CRUNNER_sysconf(int name) {
    static unsigned configured, online, descriptors;
    long processors;
    switch (name) {
    case 2: return 100;                                                  /* _SC_CLK_TCK */
    case 30: return 4096;                                                /* _SC_PAGESIZE */
    case 4: return (long)steady(&descriptors, "sysconf", 1024, 0xfffff); /* _SC_OPEN_MAX */
    case 83: /* processors configured, and online */
    case 84:
        processors = (long)steady(name == 83 ? &configured : &online, "sysconf", 1, 0x1fff);
        return processors ? processors : 1;
    default:
        if (name < 0 || name > 248) {
            stub_errno = STUB_EINVAL;
            return -1;
        }
        return crunner_assumed("identity") ? -1 : (long)crunner_choose_u64("sysconf") - 1;
    }
}

STUB int CRUNNER_getrlimit(int which, struct rlimit *into) {
    if (which < 0 || which > 15) {
        stub_errno = STUB_EINVAL;
        return -1;
    }
    into->rlim_cur = into->rlim_max = RLIM_INFINITY;
    if (!crunner_assumed("identity")) {
        into->rlim_max -= crunner_choose_u64("getrlimit");
        into->rlim_cur -= crunner_choose_u64("getrlimit");
        crunner_assume(into->rlim_cur <= into->rlim_max);
    }
    return 0;
}
STUB int CRUNNER_setrlimit(int which, const struct rlimit *limit) {
    if (which < 0 || which > 15 || limit->rlim_cur > limit->rlim_max) {
        stub_errno = STUB_EINVAL;
        return -1;
    }
    return crunner_fault("setrlimit", E(EPERM), 0) ? -1 : 0;
}
STUB int CRUNNER_getrusage(int who, struct rusage *into) {
    if (who < -1 || who > 1) {
        stub_errno = STUB_EINVAL;
        return -1;
    }
    memset(into, 0, sizeof *into);
    if (!crunner_assumed("identity")) {
        into->ru_utime.tv_sec = crunner_choose_u32("getrusage");
        into->ru_utime.tv_usec = crunner_choose_u32("getrusage") % 1000000;
        into->ru_stime.tv_sec = crunner_choose_u32("getrusage");
        into->ru_stime.tv_usec = crunner_choose_u32("getrusage") % 1000000;
        into->ru_maxrss = crunner_choose_u32("getrusage");
        into->ru_minflt = crunner_choose_u32("getrusage");
        into->ru_majflt = crunner_choose_u32("getrusage");
    }
    return 0;
}

/* ---- the locale ---- */

STUB char *CRUNNER_setlocale(int category, const char *name) {
    static char c[] = "C";
    /* The name is read to its end. */
    size_t length = name ? strlen(name) : 0;
    if (!name || strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0) return c;
    /* The user's locale, or one selected by name. If it is not available, nothing changes. */
    if (!crunner_assumed("locale") && (crunner_choose_byte("setlocale") & 1))
        crunner_unmodelled("another locale than C's");
    return length ? 0 : c;
}

STUB struct lconv *CRUNNER_localeconv(void) {
    static char point[] = ".", none[] = "";
    static struct lconv c;
    memset(&c, CHAR_MAX, sizeof c);
    c.decimal_point = point;
    c.thousands_sep = c.grouping = c.int_curr_symbol = c.currency_symbol = none;
    c.mon_decimal_point = c.mon_thousands_sep = c.mon_grouping = c.positive_sign = c.negative_sign =
        none;
    return &c;
}

/* An item's number is 65536 times the number of its category, plus its index in the category. */
STUB char *CRUNNER_nl_langinfo(int item) {
    unsigned at = (unsigned)item - (2u << 16);
    if (at < STUB_CALENDAR) return crunner_calendar[at];
    switch (item) {
    case 14: return "ANSI_X3.4-1968";
    case 1 << 16: return ".";
    case (4 << 16) + 15: return "-";
    case 5 << 16: return "^[yY]";
    case (5 << 16) + 1: return "^[nN]";
    default: return "";
    }
}

/* The system log: the output is discarded, but the text and its arguments are read. The name that
 * is passed to openlog() is not copied, and is read with each message. */
static const char *log_name;
/* Volatile, so that the computation of the length is not optimised away. */
static volatile size_t log_length;

STUB void CRUNNER_openlog(const char *name, int option, int facility) {
    (void)option;
    (void)facility;
    log_name = name;
}
STUB void CRUNNER_closelog(void) { log_name = 0; }

STUB void CRUNNER_vsyslog(int priority, const char *format, va_list args) {
    (void)priority;
    if (log_name) log_length = strlen(log_name);
    vsnprintf(0, 0, format, args);
}
STUB void CRUNNER_syslog(int priority, const char *format, ...) {
    va_list args;
    va_start(args, format);
    CRUNNER_vsyslog(priority, format, args);
    va_end(args);
}
STUB void CRUNNER___vsyslog_chk(int priority, int flag, const char *format, va_list args) {
    (void)flag;
    CRUNNER_vsyslog(priority, format, args);
}
STUB void CRUNNER___syslog_chk(int priority, int flag, const char *format, ...) {
    va_list args;
    va_start(args, format);
    CRUNNER___vsyslog_chk(priority, flag, format, args);
    va_end(args);
}

/* The mask of priorities that are logged, as set by the last setlogmask(). */
STUB int CRUNNER_setlogmask(int mask) {
    static int known = 0xff;
    int before = known;
    if (mask) known = mask;
    return before;
}
