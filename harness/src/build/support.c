/* Prints where a harness crashed if no sanitizer does: the addresses on the stack, relative to the
 * executable, for addr2line. Linked only into harnesses without AddressSanitizer. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <execinfo.h>

extern const char __executable_start[], _end[];

static void say(const char *text, size_t n) {
    if (write(2, text, n) < 0) return;
}

static void crunner_crashed_at(uintptr_t offset) {
    static const char before[] = "cegar frame #0 in crash (harness+0x",
                      digits[] = "0123456789abcdef";
    char hex[2 * sizeof offset];
    for (size_t i = sizeof hex; i-- > 0; offset >>= 4) hex[i] = digits[offset & 15];
    say(before, sizeof before - 1);
    say(hex, sizeof hex);
    say(")\n", 2);
}

static void crunner_crash(int number) {
    void *frames[64];
    int n = backtrace(frames, 64), outside = 0;
    for (int i = 0; i < n; i++) {
        uintptr_t at = (uintptr_t)frames[i], start = (uintptr_t)__executable_start;
        int inside = at >= start && at < (uintptr_t)_end;
        /* The frame after the signal's trampoline is the fault itself; every other address is a
         * return address, so the call is one byte before it. */
        if (inside) crunner_crashed_at(at - start - !outside);
        outside = !inside;
    }
    signal(number, SIG_DFL);
    raise(number);
}

__attribute__((constructor)) static void crunner_watch(void) {
    static char stack[65536];
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    void *first[1];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = crunner_crash, .sa_flags = SA_ONSTACK | SA_RESETHAND};
    backtrace(first, 1); /* loads libgcc now, not in the handler */
    sigaltstack(&other, NULL);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) sigaction(fatal[i], &action, NULL);
}
#else
typedef int crunner_no_backtrace;
#endif
