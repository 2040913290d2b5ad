/* Signals: what a program does when a signal arrives, and when signals arrive.
 *
 * A signal that the program sends to itself arrives immediately, with the effect of its
 * disposition. A signal from outside may arrive whenever a function of the library is called while
 * its handler is installed. Each such call reads a byte of the channel "signal": the signal's
 * number, or a number without a handler for no signal. That signals arrive only between
 * instructions that call the library is the narrowing "signals". There is no wider model: if the
 * narrowing is lifted, everything after the installation of a handler stays open. A signal with the
 * default disposition ends the run whenever it arrives, which violates no check. */
#include "stub.h"
#include <signal.h>

#define SIGNALS 65
/* The sender of a signal: another process, or the program by raise() or by kill(). */
enum { OUTSIDE, RAISED, KILLED };

int CRUNNER_getpid(void);
unsigned CRUNNER_getuid(void);

/* For each signal: its handler (possibly one with three parameters), the signals that are blocked
 * while it runs, and its flags. Separate arrays instead of an array of structures: the engine
 * follows a table of addresses at any index, but treats structures as bytes. */
static void (*actions[SIGNALS])(int);
static unsigned long masks[SIGNALS];
static int modes[SIGNALS];
/* The number of signals with a handler, and of handlers that are running; the signals that are
 * blocked, those of them that have arrived, and those of these that kill() sent. */
static int handlers, handling;
static unsigned long blocked, pending, killed;

static int fails(int error) {
    stub_errno = error;
    return -1;
}
static int valid(int number) { return number > 0 && number < SIGNALS; }
static unsigned long bit(int number) { return 1ul << (number - 1); }
static int is_handler(void (*handler)(int)) { return handler != SIG_DFL && handler != SIG_IGN; }

/* Calls a handler with the sender and the cause of a signal. The interrupted context is all zeros,
 * which is part of the narrowing "signals". */
static void tell(int number, int sender, void (*handler)(int)) {
    siginfo_t about;
    ucontext_t interrupted;
    memset(&about, 0, sizeof about);
    memset(&interrupted, 0, sizeof interrupted);
    about.si_signo = number;
    if (sender == OUTSIDE) {
        about.si_code = (signed char)crunner_choose_byte("siginfo");
        about.si_pid = (int)(crunner_choose_u32("siginfo") & INT_MAX);
        about.si_uid = crunner_choose_u32("siginfo");
        about.si_value.sival_ptr = (void *)(uintptr_t)crunner_choose_u64("siginfo");
    } else {
        about.si_code = sender == KILLED ? SI_USER : SI_TKILL;
        about.si_pid = CRUNNER_getpid();
        about.si_uid = CRUNNER_getuid();
    }
    union {
        void (*handler)(int);
        void (*told)(int, siginfo_t *, void *);
    } either = {handler};
    either.told(number, &about, &interrupted);
}

static void handle(int number, int sender) {
    void (*handler)(int) = actions[number];
    int flags = modes[number];
    unsigned long before = blocked, mask = masks[number];
    if (flags & (int)SA_RESETHAND) actions[number] = SIG_DFL;
    blocked |= mask | (flags & SA_NODEFER ? 0 : bit(number));
    handling++;
    if (flags & SA_SIGINFO) tell(number, sender, handler);
    else handler(number);
    handling--;
    blocked = before;
}

/* A signal that arrives while a handler runs is delayed until the handler returns, which is part of
 * the narrowing. */
STUB void crunner_signals_arrive(void) {
    if (!handlers || handling) return;
    unsigned char number = crunner_choose_byte("signal");
    if (!valid(number) || !is_handler(actions[number]) || (blocked & bit(number))) return;
    handle(number, OUTSIDE);
}

STUB void crunner_inherits_the_usual(void) {
    if (!crunner_assumed("inherited"))
        crunner_unmodelled("signals, alarms and children from before the program began");
}

static void deliver(int number, int sender) {
    void (*handler)(int) = actions[number];
    if (handler == SIG_IGN) return;
    if (handler != SIG_DFL) {
        handle(number, sender);
        return;
    }
    switch (number) {
    case SIGCHLD:
    case SIGURG:
    case SIGWINCH:
    case SIGCONT: return;
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU: return; /* stopped until another process continues it */
    case SIGABRT: ABORTS("abort");
    default: crunner_finish_at_once(128 + number);
    }
}

static int send(int number, int sender) {
    if (!valid(number)) return fails(STUB_EINVAL);
    crunner_inherits_the_usual();
    if (!(blocked & bit(number))) {
        deliver(number, sender);
    } else if (!(pending & bit(number))) {
        pending |= bit(number);
        killed = sender == KILLED ? killed | bit(number) : killed & ~bit(number);
    }
    return 0;
}
STUB int CRUNNER_raise(int number) { return send(number, RAISED); }

/* Whether other processes exist, and whether the program may signal them, are choices. Signal 0
 * only checks this. */
STUB int CRUNNER_kill(int process, int number) {
    if (number < 0 || number >= SIGNALS) return fails(STUB_EINVAL);
    if (process == CRUNNER_getpid() || process == 0) return number ? send(number, KILLED) : 0;
    unsigned char chosen = crunner_choose_byte("kill");
    if (chosen % 3 == 0) return fails(STUB_EPERM);
    return chosen % 3 == 1 ? 0 : fails(STUB_ESRCH);
}

static void install(int number, void (*handler)(int), unsigned long mask, int flags) {
    crunner_inherits_the_usual();
    handlers += is_handler(handler) - is_handler(actions[number]);
    actions[number] = handler;
    masks[number] = mask;
    modes[number] = flags;
    if (handler == SIG_IGN) pending &= ~bit(number);
    if (is_handler(handler) && !crunner_assumed("signals"))
        crunner_unmodelled("a signal between two calls of the library");
}

/* glibc reserves two signals for itself. */
static int is_free(int number) { return valid(number) && number != 32 && number != 33; }

STUB void (*CRUNNER_signal(int number, void (*handler)(int)))(int) {
    if (!is_free(number) || number == SIGKILL || number == SIGSTOP || handler == SIG_ERR) {
        stub_errno = STUB_EINVAL;
        return SIG_ERR;
    }
    void (*before)(int) = actions[number];
    install(number, handler, 0, SA_RESTART);
    return before;
}
STUB int CRUNNER_sigaction(int number, const struct sigaction *restrict action,
                           struct sigaction *restrict old) {
    if (!is_free(number) || (action && (number == SIGKILL || number == SIGSTOP)))
        return fails(STUB_EINVAL);
    void (*before)(int) = actions[number];
    unsigned long mask = masks[number];
    int mode = modes[number];
    if (action)
        install(number, action->sa_handler, *(const unsigned long *)&action->sa_mask,
                action->sa_flags);
    if (old) {
        memset(old, 0, sizeof *old);
        old->sa_handler = before;
        *(unsigned long *)&old->sa_mask = mask;
        old->sa_flags = mode;
    }
    return 0;
}
STUB int CRUNNER_siginterrupt(int number, int flag) {
    if (!valid(number)) return fails(STUB_EINVAL);
    if (flag) modes[number] &= ~SA_RESTART;
    else modes[number] |= SA_RESTART;
    return 0;
}

/* ---- which signals are blocked ---- */

static int change_mask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    unsigned long before = blocked;
    if (set) {
        unsigned long mask = *(const unsigned long *)set & ~(bit(SIGKILL) | bit(SIGSTOP));
        switch (how) {
        case SIG_BLOCK: blocked |= mask; break;
        case SIG_UNBLOCK: blocked &= ~mask; break;
        case SIG_SETMASK: blocked = mask; break;
        default: return STUB_EINVAL;
        }
    }
    if (old) {
        crunner_inherits_the_usual();
        memset(old, 0, sizeof *old);
        *(unsigned long *)old = before;
    }
    if (pending & ~blocked)
        for (int number = 1; number < SIGNALS; number++)
            if (pending & ~blocked & bit(number)) {
                pending &= ~bit(number);
                deliver(number, killed & bit(number) ? KILLED : RAISED);
            }
    return 0;
}
STUB int CRUNNER_sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    int error = change_mask(how, set, old);
    return error ? fails(error) : 0;
}
STUB int CRUNNER_pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    return change_mask(how, set, old);
}
STUB int CRUNNER_sigpending(sigset_t *set) {
    crunner_inherits_the_usual();
    memset(set, 0, sizeof *set);
    *(unsigned long *)set = pending;
    return 0;
}
/* Waits until a handler has run. Without a handler, this blocks for ever. */
static int wait_for_handler(void) {
    crunner_assume(handlers > 0);
    unsigned char number = crunner_choose_byte("signal");
    crunner_assume(valid(number) && is_handler(actions[number]) && !(blocked & bit(number)));
    handle(number, OUTSIDE);
    return fails(STUB_EINTR);
}
STUB int CRUNNER_pause(void) { return wait_for_handler(); }
STUB int CRUNNER_sigsuspend(const sigset_t *mask) {
    unsigned long before = blocked;
    blocked = *(const unsigned long *)mask & ~(bit(SIGKILL) | bit(SIGSTOP));
    wait_for_handler();
    blocked = before;
    return fails(STUB_EINTR);
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
    if (!valid(number)) return fails(STUB_EINVAL);
    *(unsigned long *)set |= bit(number);
    return 0;
}
STUB int CRUNNER_sigdelset(sigset_t *set, int number) {
    if (!valid(number)) return fails(STUB_EINVAL);
    *(unsigned long *)set &= ~bit(number);
    return 0;
}
STUB int CRUNNER_sigismember(const sigset_t *set, int number) {
    if (!valid(number)) return fails(STUB_EINVAL);
    return (*(const unsigned long *)set & bit(number)) != 0;
}

/* ---- the alarm clock ---- */

/* The seconds that the previous alarm still had. When an alarm expires, it is a signal like any
 * other. */
static unsigned ringing;
STUB unsigned CRUNNER_alarm(unsigned seconds) {
    if (!ringing) crunner_inherits_the_usual();
    unsigned left = ringing ? crunner_choose_u32("alarm") % (ringing + 1ul) : 0;
    crunner_signals_arrive();
    ringing = seconds;
    return left;
}
