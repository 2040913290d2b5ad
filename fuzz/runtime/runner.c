/* Runs a program on tapes and reports what happened in each run as one line of JSON.
 *
 *     runner [--batch] [--events] [--output] [--timeout-ms N] TAPE... | -
 *
 * With --batch (or more than one tape), each run is a separate process, forked here, so that no run
 * affects the next one; `-` reads the paths of tapes from standard input, one per line. Otherwise
 * the single tape runs in this process, for use under a debugger. The time limit counts processor
 * time, so that a loaded machine does not turn a slow run into a timeout. As a last resort, a run
 * ends after ten times the limit plus ten seconds of wall-clock time.
 *
 * Stacks are reported as plain addresses. The executable is linked at a fixed base, so the reader
 * of the line can pass them to a symboliser. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "crunner_rt.h"

#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern uint8_t __start___cegar_cnts[], __stop___cegar_cnts[];

#define FRAMES 64
static void *stack[FRAMES + 1];
static int frames;
static int out_fd = 1, events, output;
static unsigned timeout_ms = 10000;
static const char *tape_name;

/* ---- JSON lines, written without using the heap: a report may be made while the heap must not be
 * touched ---- */

static char line[1 << 16];
static size_t filled;

static void flush(void) {
    for (size_t at = 0; at < filled;) {
        ssize_t n = write(out_fd, line + at, filled - at);
        if (n <= 0) break;
        at += (size_t)n;
    }
    filled = 0;
}

static void put(const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (filled == sizeof line) flush();
        line[filled++] = text[i];
    }
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n > 0) put(text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static void quoted(const char *text, size_t n) {
    put("\"", 1);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') say("\\%c", c);
        else if (c < 0x20 || c >= 0x7f) /* bytes as Latin-1, so that a line is always valid JSON */
            say("\\u%04x", c);
        else put(&text[i], 1);
    }
    put("\"", 1);
}

static void base64(const uint8_t *bytes, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    put("\"", 1);
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)bytes[i] << 16;
        if (i + 1 < n) v |= (uint32_t)bytes[i + 1] << 8;
        if (i + 2 < n) v |= bytes[i + 2];
        char four[4] = {digits[v >> 18], digits[v >> 12 & 63],
                        i + 1 < n ? digits[v >> 6 & 63] : '=', i + 2 < n ? digits[v & 63] : '='};
        put(four, 4);
    }
    put("\"", 1);
}

static void say_stack(void) {
    put(",\"stack\":[", 10);
    for (int i = 0; i < frames; i++) say("%s%" PRIu64, i ? "," : "", (uint64_t)(uintptr_t)stack[i]);
    put("]", 1);
}

static void say_blocks(void) {
    const char *comma = "";
    put(",\"blocks\":[", 11);
    for (uint8_t *c = __start___cegar_cnts; c < __stop___cegar_cnts; c++)
        if (*c) {
            say("%s[%zu,%u]", comma, (size_t)(c - __start___cegar_cnts), *c);
            comma = ",";
        }
    put("]", 1);
}

/* The thread that reports. The program may have several threads; if others fail at the same time or
 * later, they wait for the end of the process. */
static pid_t reporter;

static void begin(const char *outcome) {
    pid_t me = gettid(), known = 0;
    if (!__atomic_compare_exchange_n(&reporter, &known, me, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
        && known != me)
        for (;;) pause();
    /* If a process dies while it reports, it leaves an unterminated line. Start a new one. */
    put("\n{\"tape\":", 9);
    quoted(tape_name, strlen(tape_name));
    say(",\"outcome\":\"%s\"", outcome);
}

static void finish(void) {
    put("}\n", 2);
    flush();
}

static uint32_t word(const uint8_t *at) {
    uint32_t v;
    memcpy(&v, at, 4);
    return v;
}

static void say_run(const struct crunner_rt *rt, const struct crunner_result *r) {
    static const char *const outcomes[] = {"returned", "exited",  "rejected",     "violated",
                                           "crashed",  "timeout", "out_of_memory"};
    begin(r->outcome < 7 ? outcomes[r->outcome] : "crashed");
    say(",\"status\":%d,\"consumed\":%" PRIu64 ",\"exhausted\":%s,\"heap_live\":%" PRIu64
        ",\"heap_peak\":%" PRIu64,
        r->status, r->consumed, r->exhausted ? "true" : "false", r->heap_live, r->heap_peak);
    if (r->outcome == CRUNNER_VIOLATED) {
        static const char *const kinds[] = {"assertion", "abort", "reach_error",
                                            "fail",      "heap",  "trap"};
        say(",\"violated\":{\"kind\":\"%s\",\"what\":", r->kind < 6 ? kinds[r->kind] : "fail");
        quoted(r->what, strlen(r->what));
        say(",\"file\":");
        quoted(r->file, strlen(r->file));
        say(",\"line\":%u,\"trap\":%d", r->line, r->kind == CRUNNER_TRAP ? r->status : -1);
        if (r->check != CRUNNER_NO_CHECK) say(",\"check\":%u", r->check);
        put("}", 1);
    }
    if (r->outcome == CRUNNER_CRASHED)
        say(",\"crashed\":{\"signal\":%d,\"address\":%" PRIu64 ",\"pc\":%" PRIu64 "}", r->status,
            r->address, r->pc);
    if (r->outcome == CRUNNER_VIOLATED || r->outcome == CRUNNER_CRASHED) say_stack();
    say_blocks();
    if (events) {
        size_t length;
        const uint8_t *at = crunner_rt_events(rt, &length), *end = at + length;
        const char *comma = "";
        put(",\"events\":[", 11);
        while (at < end) {
            uint32_t name = word(at);
            uint32_t bytes = word(at + 4 + name);
            /* Loops often repeat the same choice, so it is written once with a count. */
            size_t size = 8 + (size_t)name + bytes, times = 1;
            while ((size_t)(end - at) >= (times + 1) * size && !memcmp(at, at + times * size, size))
                times++;
            say("%s[", comma);
            quoted((const char *)at + 4, name);
            put(",", 1);
            base64(at + 8 + name, bytes);
            say(",%zu]", times);
            at += times * size;
            comma = ",";
        }
        put("]", 1);
    }
    if (output) {
        size_t length;
        const uint8_t *at = crunner_rt_output(rt, &length), *end = at + length;
        const char *comma = "";
        put(",\"output\":[", 11);
        while (at < end) {
            uint32_t bytes = word(at + 4);
            say("%s[%d,", comma, (int32_t)word(at));
            base64(at + 8, bytes);
            at += 8 + bytes;
            put("]", 1);
            comma = ",";
        }
        put("]", 1);
    }
    finish();
}

/* ---- the end of a run ---- */

/* The linker redirects the program's calls to these functions (--wrap), so that the stack is
 * recorded at the failure. */
_Noreturn void __real_crunner_violation(int kind, const char *what, const char *file,
                                        unsigned line);
_Noreturn void __real___cegar_trap(uint32_t check, uint32_t kind);
_Noreturn void __wrap_crunner_violation(int kind, const char *what, const char *file,
                                        unsigned line_number);
_Noreturn void __wrap___cegar_trap(uint32_t check, uint32_t kind);

/* Records the stack from `pc` outwards or, if pc is 0, from the caller's caller. A return address
 * points after the call, so one byte is subtracted to get an address inside the call. */
__attribute__((noinline)) static void take_stack(uintptr_t pc, int exact) {
    void *all[FRAMES];
    int count = backtrace(all, FRAMES), from = pc ? 0 : 2;
    while (pc && from < count && (uintptr_t)all[from] - pc + 1 > 2) from++;
    frames = 0;
    if (pc) stack[frames++] = (void *)(exact ? pc : pc - 1);
    for (from += pc != 0; from < count; from++)
        stack[frames++] = (void *)((uintptr_t)all[from] - 1);
}

_Noreturn void __wrap_crunner_violation(int kind, const char *what, const char *file,
                                        unsigned line_number) {
    take_stack(0, 0);
    __real_crunner_violation(kind, what, file, line_number);
}

_Noreturn void __wrap___cegar_trap(uint32_t check, uint32_t kind) {
    take_stack(0, 0);
    __real___cegar_trap(check, kind);
}

static void on_fault(int number, siginfo_t *info, void *context) {
    uint64_t pc = 0;
#if defined(__x86_64__)
    pc = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    pc = ((ucontext_t *)context)->uc_mcontext.pc;
#else
    (void)context;
#endif
    if (crunner_rt_running()) take_stack((uintptr_t)pc, 1);
    crunner_rt_crashed(number, number == SIGABRT ? 0 : (uint64_t)(uintptr_t)info->si_addr, pc);
    signal(number, SIG_DFL);
    raise(number);
}

static void on_time(int number) {
    (void)number;
    crunner_rt_interrupt();
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>

const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "abort_on_error=0:handle_segv=0:handle_sigbus=0:handle_abort=0:"
           "handle_sigfpe=0:handle_sigill=0:"
           "exitcode=86:detect_leaks=0:symbolize=0:detect_odr_violation=0:"
           "allocator_may_return_null=1:use_sigaltstack=0:"
           "strict_string_checks=0";
}

static void on_report(const char *text) {
    begin("asan");
    say(",\"asan\":{\"kind\":");
    const char *kind = __asan_get_report_description();
    quoted(kind, strlen(kind));
    say(",\"access\":\"%s\",\"size\":%zu,\"address\":%" PRIu64 ",\"text\":",
        __asan_get_report_access_type() ? "write" : "read", __asan_get_report_access_size(),
        (uint64_t)(uintptr_t)__asan_get_report_address());
    quoted(text, strnlen(text, 16384));
    put("}", 1);
    /* The runtime's own frames, which are above the reported place, are left out. */
    take_stack((uintptr_t)__asan_get_report_pc(), 0);
    say_stack();
    say_blocks();
    finish();
    _exit(0);
}

static void prepare_asan(void) { __asan_set_error_report_callback(on_report); }
#define HAVE_ASAN 1
#endif
#endif
#ifndef HAVE_ASAN
static void prepare_asan(void) {}
#define HAVE_ASAN 0
#endif
/* The exit status if AddressSanitizer ends the process itself: `exitcode` above. */
#define ASAN_EXIT 86

#define STACK ((rlim_t)120 << 20)

static void prepare(void) {
    static uint8_t alternate[1 << 18];
    stack_t where = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&where, NULL);
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigaction(faults[i], &action, NULL);
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    action.sa_handler = on_time;
    sigaction(SIGPROF, &action, NULL);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    /* The machine model has no stack limit. This size fits below the kernel's other mappings. */
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < STACK) {
        stack.rlim_cur = stack.rlim_max < STACK ? stack.rlim_max : STACK;
        setrlimit(RLIMIT_STACK, &stack);
    }
    void *warm[4];
    backtrace(warm, 4); /* loads the unwinder now instead of in a handler */
    prepare_asan();
}

static uint8_t *read_tape(const char *path, size_t *length) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    uint8_t *bytes = NULL;
    size_t room = 0;
    *length = 0;
    for (;;) {
        if (*length == room) {
            uint8_t *more = realloc(bytes, room = room ? room * 2 : 4096);
            if (!more) break;
            bytes = more;
        }
        size_t n = fread(bytes + *length, 1, room - *length, f);
        if (n == 0) break;
        *length += n;
    }
    fclose(f);
    return bytes;
}

static void run(const uint8_t *tape, size_t length) {
    static struct crunner_result result;
    struct crunner_options options = {.flags = (events ? CRUNNER_RECORD_EVENTS : 0)
                                               | (output ? CRUNNER_RECORD_OUTPUT : 0)};
    struct crunner_rt *rt = crunner_rt_new(&options);
    if (!rt) {
        begin("out_of_memory");
        finish();
        return;
    }
    memset(__start___cegar_cnts, 0, (size_t)(__stop___cegar_cnts - __start___cegar_cnts));
    struct itimerval limit = {.it_interval = {0, 100000},
                              .it_value = {timeout_ms / 1000, (timeout_ms % 1000) * 1000}},
                     off = {0};
    setitimer(ITIMER_PROF, &limit, NULL);
    crunner_rt_run(rt, tape, length, &result);
    setitimer(ITIMER_PROF, &off, NULL);
    say_run(rt, &result);
}

static void run_file(const char *path, int apart) {
    size_t length;
    uint8_t *tape = read_tape(path, &length);
    tape_name = path;
    if (!tape) {
        begin("unreadable");
        finish();
        return;
    }
    if (!apart) {
        run(tape, length);
        free(tape);
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        reporter = 0;
        alarm(timeout_ms / 100 + 10);
        run(tape, length);
        _exit(0);
    }
    free(tape);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        begin("unreadable");
        finish();
    } else if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        begin(number == SIGALRM ? "timeout" : number == SIGKILL ? "out_of_memory" : "crashed");
        if (number != SIGALRM && number != SIGKILL)
            say(",\"crashed\":{\"signal\":%d,\"address\":0,\"pc\":0}", number);
        finish();
    } else if (HAVE_ASAN && WEXITSTATUS(status) == ASAN_EXIT) {
        /* AddressSanitizer reads its own header before an address that is freed, and may crash on
         * that while it reports. */
        begin("asan");
        say(",\"asan\":{\"kind\":\"bad-free\",\"access\":\"read\",\"size\":0,"
            "\"address\":0,\"text\":\"\"}");
        finish();
    } else if (WEXITSTATUS(status) != 0) {
        /* The program exited by itself, without calling the stubs. */
        begin("exited");
        say(",\"status\":%d", WEXITSTATUS(status));
        finish();
    }
}

int main(int argc, char **argv) {
    int at = 1, apart = 0;
    for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
        if (!strcmp(argv[at], "--batch")) apart = 1;
        else if (!strcmp(argv[at], "--events")) events = 1;
        else if (!strcmp(argv[at], "--output")) output = 1;
        else if (!strcmp(argv[at], "--timeout-ms") && at + 1 < argc)
            timeout_ms = (unsigned)strtoul(argv[++at], NULL, 10);
        else {
            fprintf(stderr, "usage: %s [--batch] [--events] [--output] [--timeout-ms N] TAPE...\n",
                    argv[0]);
            return 2;
        }
    }
    if (timeout_ms == 0) timeout_ms = 1;
    prepare();
    out_fd = dup(1);
    int null = open("/dev/null", O_RDWR);
    if (out_fd < 0 || null < 0) {
        perror("runner");
        return 2;
    }
    dup2(null, 1); /* direct writes of the program must not mix with the report */
    if (argc - at > 1) apart = 1;
    for (; at < argc; at++) {
        if (strcmp(argv[at], "-")) {
            run_file(argv[at], apart);
            continue;
        }
        char path[4096];
        while (fgets(path, sizeof path, stdin)) {
            path[strcspn(path, "\n")] = 0;
            if (*path) run_file(path, 1);
        }
    }
    return 0;
}
