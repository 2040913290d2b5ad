/* What a program asks about the system it runs on. Identities and limits are fixed: a test that depends on them
 * says so by its mock, not by chance. The locale is C's. Signals never arrive. */
#include "stub.h"
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#define CONSTANT(name, value) \
    STUB int CRUNNER_##name(void) { return value; }
CONSTANT(getpid, 1000)
CONSTANT(getppid, 999)
CONSTANT(gettid, 1000)
CONSTANT(getpgrp, 1000)
CONSTANT(setsid, 1000)
CONSTANT(getuid, 1000)
CONSTANT(geteuid, 1000)
CONSTANT(getgid, 1000)
CONSTANT(getegid, 1000)
CONSTANT(getpagesize, 4096)

STUB int CRUNNER_gethostname(char *into, size_t n) {
    static const char name[] = "host";
    if (n < sizeof name) {
        stub_errno = 36; /* ENAMETOOLONG */
        return -1;
    }
    memcpy(into, name, sizeof name);
    return 0;
}

STUB int CRUNNER_uname(struct utsname *into) {
    memset(into, 0, sizeof *into);
    memcpy(into->sysname, "Linux", 6);
    memcpy(into->nodename, "host", 5);
    memcpy(into->release, "6.1.0", 6);
    memcpy(into->version, "#1", 3);
    memcpy(into->machine, "x86_64", 7);
    return 0;
}

STUB long CRUNNER_sysconf(int name) {
    switch (name) {
    case 2: return 100;    /* _SC_CLK_TCK */
    case 4: return 1024;   /* _SC_OPEN_MAX */
    case 30: return 4096;  /* _SC_PAGESIZE */
    case 83:
    case 84: return 1;     /* processors, configured and online */
    default: return -1;
    }
}

STUB int CRUNNER_getrlimit(int which, struct rlimit *into) {
    into->rlim_cur = into->rlim_max = RLIM_INFINITY;
    return 0;
}
STUB int CRUNNER_setrlimit(int which, const struct rlimit *limit) { return 0; }
STUB int CRUNNER_getrusage(int who, struct rusage *into) {
    memset(into, 0, sizeof *into);
    return 0;
}

/* ---- signals ---- */

STUB void (*CRUNNER_signal(int number, void (*handler)(int)))(int) {
    return SIG_DFL;
}
STUB int CRUNNER_sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old) {
    if (old) memset(old, 0, sizeof *old);
    return 0;
}
STUB int CRUNNER_sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    if (old) memset(old, 0, sizeof *old);
    return 0;
}
STUB int CRUNNER_pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    return CRUNNER_sigprocmask(how, set, old);
}
STUB int CRUNNER_sigemptyset(sigset_t *set) {
    memset(set, 0, sizeof *set);
    return 0;
}
STUB int CRUNNER_sigfillset(sigset_t *set) {
    memset(set, 0xff, sizeof *set);
    return 0;
}
STUB int CRUNNER_sigaddset(sigset_t *set, int number) {
    ((unsigned long *)set)[(number - 1) / 64] |= 1ul << (number - 1) % 64;
    return 0;
}
STUB int CRUNNER_sigdelset(sigset_t *set, int number) {
    ((unsigned long *)set)[(number - 1) / 64] &= ~(1ul << (number - 1) % 64);
    return 0;
}
STUB int CRUNNER_sigismember(const sigset_t *set, int number) {
    return ((const unsigned long *)set)[(number - 1) / 64] >> (number - 1) % 64 & 1;
}
STUB int CRUNNER_siginterrupt(int number, int flag) { return 0; }

/* ---- the locale ---- */

STUB char *CRUNNER_setlocale(int category, const char *name) {
    static char c[] = "C";
    if (!name || !*name || strcmp(name, "C") == 0 || strcmp(name, "POSIX") == 0) return c;
    return 0;
}

STUB struct lconv *CRUNNER_localeconv(void) {
    static char point[] = ".", none[] = "";
    static struct lconv c;
    memset(&c, CHAR_MAX, sizeof c);
    c.decimal_point = point;
    c.thousands_sep = c.grouping = c.int_curr_symbol = c.currency_symbol = none;
    c.mon_decimal_point = c.mon_thousands_sep = c.mon_grouping = c.positive_sign = c.negative_sign = none;
    return &c;
}

STUB char *CRUNNER_nl_langinfo(int item) {
    static char codeset[] = "ANSI_X3.4-1968", none[] = "";
    return item == 14 ? codeset : none;
}

/* ---- one thread: locks are free ---- */

#define FREE_LOCK(name) \
    STUB int CRUNNER_##name(void *lock) { return 0; }
FREE_LOCK(pthread_mutex_lock)
FREE_LOCK(pthread_mutex_trylock)
FREE_LOCK(pthread_mutex_unlock)
FREE_LOCK(pthread_mutex_destroy)
FREE_LOCK(pthread_spin_lock)
FREE_LOCK(pthread_spin_unlock)
FREE_LOCK(pthread_rwlock_rdlock)
FREE_LOCK(pthread_rwlock_wrlock)
FREE_LOCK(pthread_rwlock_unlock)
FREE_LOCK(pthread_rwlock_destroy)
FREE_LOCK(pthread_cond_signal)
FREE_LOCK(pthread_cond_broadcast)
FREE_LOCK(pthread_cond_destroy)
STUB int CRUNNER_pthread_mutex_init(void *lock, const void *attributes) { return 0; }
STUB int CRUNNER_pthread_rwlock_init(void *lock, const void *attributes) { return 0; }
STUB int CRUNNER_pthread_cond_init(void *condition, const void *attributes) { return 0; }
STUB unsigned long CRUNNER_pthread_self(void) { return 1; }
STUB int CRUNNER_pthread_equal(unsigned long a, unsigned long b) { return a == b; }
/* Values by key, as for a thread that never ends: no destructor is called. */
static const void *crunner_keyed[128];
static unsigned crunner_keys;
STUB int CRUNNER_pthread_key_create(unsigned *key, void (*destructor)(void *)) {
    if (crunner_keys == sizeof crunner_keyed / sizeof *crunner_keyed) return 11; /* EAGAIN */
    *key = crunner_keys++;
    crunner_keyed[*key] = 0;
    return 0;
}
STUB int CRUNNER_pthread_key_delete(unsigned key) { return key < crunner_keys ? 0 : 22; } /* EINVAL */
STUB void *CRUNNER_pthread_getspecific(unsigned key) {
    return key < crunner_keys ? (void *)crunner_keyed[key] : 0;
}
STUB int CRUNNER_pthread_setspecific(unsigned key, const void *value) {
    if (key >= crunner_keys) return 22; /* EINVAL */
    crunner_keyed[key] = value;
    return 0;
}
STUB int CRUNNER_pthread_once(int *control, void (*once)(void)) {
    if (*control) return 0;
    *control = 1;
    once();
    return 0;
}
