/* How a program ends, and the processes that it starts.
 *
 * exit() runs the handlers of atexit(), newest first, as C requires. abort() and a failed assert()
 * are violations and not normal ends. fork() is a choice: it fails, or the run continues as the
 * parent or as the child. The actions of another process are not visible; its exit status, and what
 * it wrote into a pipe, are choices. The run ends when exec replaces the program. */
#include "allocation.h"

struct handlers {
    struct handlers *below;
    void (*call)(void);
};

/* The first 32 handlers, which the C standard guarantees, need no allocation. */
#define PROMISED 32

static void (*handlers[PROMISED])(void);
static void (*quick_handlers[PROMISED])(void);
static struct handlers *more, *more_quick;
static void (*cleanups[8])(void);
static int handler_count, quick_count, cleanup_count;
STUB int crunner_forked = 0;
extern int crunner_child_number;

STUB void crunner_at_end(void (*cleanup)(void)) {
    if (cleanup_count < 8) cleanups[cleanup_count++] = cleanup;
}

static void forget(struct handlers **list) {
    while (*list) {
        struct handlers *top = *list;
        *list = top->below;
        free(top);
    }
}

static void clean_up_once(void) {
    if (cleanup_count > 0) cleanups[--cleanup_count]();
}

/* The first cleanup is outside the loop, so that a proof does not need one invariant that covers
 * both the state before a block is released and the state after it. */
static void clean(void) {
    forget(&more);
    forget(&more_quick);
    clean_up_once();
    while (cleanup_count > 0) clean_up_once();
}

/* A handler may register another handler, which runs next. */
static void run(struct handlers **list, void (**first)(void), int *count) {
    for (;;) {
        struct handlers *top = *list;
        if (top) {
            void (*call)(void) = top->call;
            *list = top->below;
            free(top);
            call();
        } else if (*count > 0) {
            first[--*count]();
        } else {
            return;
        }
    }
}

_Noreturn STUB void crunner_finish(int status) {
    run(&more, handlers, &handler_count);
    clean();
    crunner_stop(status);
}

_Noreturn STUB void crunner_finish_at_once(int status) {
    clean();
    crunner_stop(status);
}

static int put_on(struct handlers **list, void (**first)(void), int *count, void (*handler)(void)) {
    if (!crunner_assumed("alloc") && (crunner_choose_byte("atexit") & 1)) return -1;
    if (*count < PROMISED) {
        first[(*count)++] = handler;
        return 0;
    }
    struct handlers *top = crunner_granted_malloc(sizeof *top);
    if (!top) return -1;
    top->below = *list;
    top->call = handler;
    *list = top;
    return 0;
}

STUB int CRUNNER_atexit(void (*handler)(void)) {
    return put_on(&more, handlers, &handler_count, handler);
}
STUB int CRUNNER_at_quick_exit(void (*handler)(void)) {
    return put_on(&more_quick, quick_handlers, &quick_count, handler);
}

_Noreturn STUB void CRUNNER_exit(int status) { crunner_finish(status & 0xff); }

_Noreturn STUB void CRUNNER_quick_exit(int status) {
    run(&more_quick, quick_handlers, &quick_count);
    clean();
    crunner_stop(status & 0xff);
}

_Noreturn STUB void CRUNNER__exit(int status) {
    clean();
    crunner_stop(status & 0xff);
}

_Noreturn STUB void CRUNNER__Exit(int status) { CRUNNER__exit(status); }

_Noreturn STUB void CRUNNER_abort(void) { ABORTS("abort"); }

_Noreturn STUB void CRUNNER___assert_fail(const char *expression, const char *file, unsigned line,
                                          const char *function) {
    (void)function;
    crunner_violation(VIOLATES_ASSERTION, expression, file, line);
}

_Noreturn STUB void CRUNNER___assert(const char *expression, const char *file, int line) {
    crunner_violation(VIOLATES_ASSERTION, expression, file, (unsigned)line);
}

_Noreturn STUB void CRUNNER___assert_perror_fail(int error, const char *file, unsigned line,
                                                 const char *function) {
    (void)error;
    (void)function;
    crunner_violation(VIOLATES_ASSERTION, "unexpected error", file, line);
}

_Noreturn STUB void CRUNNER___chk_fail(void) { ABORTS("buffer overflow detected"); }
_Noreturn STUB void CRUNNER___stack_chk_fail(void) { ABORTS("stack smashing detected"); }

static int fails(int error) {
    stub_errno = error;
    return -1;
}

#define NO_WAITING 1 /* WNOHANG */
#define STOPPED 2    /* WUNTRACED */
#define CONTINUED 8  /* WCONTINUED */

/* The status that waitpid() reports for a process that has ended: it exited, or a signal ended it
 * (possibly with a core dump). */
static int ended(unsigned chosen) {
    int signal = (int)(chosen & 0x7f);
    return signal && signal < 0x7f ? (int)(chosen & 0xff) : (int)(chosen & 0xff00);
}

/* The status for a process that a signal has stopped, or that continues. */
static int paused(unsigned chosen, int options) {
    if (!(options & STOPPED) || ((options & CONTINUED) && (chosen & 1))) return 0xffff;
    return (int)((chosen >> 8 & 0x3f) + 1) << 8 | 0x7f;
}

/* Zero means that no process can be created. */
STUB int CRUNNER_system(const char *command) {
    crunner_signals_arrive();
    if (!command) return crunner_choose_byte("system") & 1;
    /* The shell gets the whole command, unless it is too long for a program's argument. */
    if (strlen(command) >= 1u << 17) return 127 << 8;
    unsigned chosen = crunner_choose_u32("system");
    if (!(chosen & 1)) return fails(STUB_EAGAIN);
    return ended(chosen >> 8);
}

struct crunner_stream;
struct crunner_stream *CRUNNER_fopen(const char *restrict name, const char *restrict mode);
int CRUNNER_fclose(struct crunner_stream *s);

/* A stream like that of a file, with a name that no file has. */
STUB struct crunner_stream *CRUNNER_popen(const char *command, const char *mode) {
    if ((*mode != 'r' && *mode != 'w')) {
        stub_errno = STUB_EINVAL;
        return 0;
    }
    if (!(crunner_choose_byte("popen") & 1)) {
        stub_errno = STUB_EAGAIN;
        return 0;
    }
    char *name = crunner_channel("popen:", command);
    struct crunner_stream *stream = name ? CRUNNER_fopen(name, mode) : 0;
    free(name);
    return stream;
}
STUB int CRUNNER_pclose(struct crunner_stream *stream) {
    CRUNNER_fclose(stream);
    unsigned chosen = crunner_choose_u32("pclose");
    return chosen & 1 ? fails(STUB_ECHILD) : ended(chosen >> 8);
}

/* The child processes that were not waited for: the first ones by process number, the others by
 * their count. */
#define KNOWN 8
static int children[KNOWN], known, others;

/* Linux uses process numbers below 4194304, and 1 is the first process. */
static int other_process(unsigned chosen) { return 2 + (int)((999 + chosen % 4194302) % 4194302); }

/* 0: no process can be created; 1: this is the child; 2: this is the parent. */
STUB int CRUNNER_fork(void) {
    unsigned char chosen = crunner_choose_byte("fork");
    if (chosen % 3 == 0) return fails(chosen ? STUB_ENOMEM : STUB_EAGAIN);
    int child = other_process(crunner_choose_u32("fork"));
    for (int i = 0; i < known; i++) crunner_assume(children[i] != child);
    crunner_forked = 1;
    if (chosen % 3 == 2) {
        if (known < KNOWN) children[known++] = child;
        else others++;
        return child;
    }
    known = others = 0;
    crunner_child_number = child;
    return 0;
}
STUB int CRUNNER_vfork(void) { return CRUNNER_fork(); }

/* The total length of a list of strings that is terminated by NULL. */
static size_t length_of(char *const list[]) {
    size_t all = 0;
    for (size_t i = 0; list && list[i]; i++) all += strlen(list[i]);
    return all;
}

static int execute(const char *path, size_t all) {
    if (strlen(path) + all > 1u << 21) return fails(STUB_E2BIG);
    unsigned char chosen = crunner_choose_byte("exec");
    if (chosen & 1) crunner_finish_at_once(chosen >> 1);
    unsigned error = chosen >> 1;
    unsigned long long may = E(EACCES) | E(E2BIG) | E(ENOEXEC) | E(ENOMEM) | E(ENOTDIR) | E(ETXTBSY)
                             | E(EIO) | E(ELOOP) | E(EPERM);
    return fails(error < 64 && (may >> error & 1) ? (int)error : STUB_ENOENT);
}

/* execl and its siblings: the arguments follow the path and are terminated by NULL; execle has the
 * environment after that. */
static int execute_listed(const char *path, const char *first, va_list rest, int has_environment) {
    size_t all = 0;
    for (const char *argument = first; argument; argument = va_arg(rest, const char *))
        all += strlen(argument);
    if (has_environment) all += length_of(va_arg(rest, char *const *));
    return execute(path, all);
}
#define EXEC_LISTED(name, has_environment) \
    STUB int CRUNNER_##name(const char *path, const char *first, ...) { \
        va_list rest; \
        va_start(rest, first); \
        int result = execute_listed(path, first, rest, has_environment); \
        va_end(rest); \
        return result; \
    }
EXEC_LISTED(execl, 0)
EXEC_LISTED(execlp, 0)
EXEC_LISTED(execle, 1)
STUB int CRUNNER_execv(const char *path, char *const argv[]) {
    return execute(path, length_of(argv));
}
STUB int CRUNNER_execvp(const char *path, char *const argv[]) {
    return execute(path, length_of(argv));
}
STUB int CRUNNER_execve(const char *path, char *const argv[], char *const envp[]) {
    return execute(path, length_of(argv) + length_of(envp));
}

/* The index of a process among the known ones; `known` if it is not known. */
static int place_of(int process) {
    int i = 0;
    while (i < known && children[i] != process) i++;
    return i;
}

STUB int CRUNNER_waitpid(int process, int *status, int options) {
    crunner_signals_arrive();
    int at = process > 0 ? place_of(process) : 0;
    int none = process > 0 ? at == known : !known;
    /* Children from before, or an action for SIGCHLD that leaves none to wait for. */
    crunner_inherits_the_usual();
    if (none && !others) return fails(STUB_ECHILD);
    unsigned chosen = crunner_choose_u32("wait");
    if ((chosen & 3) == 1) return fails(STUB_EINTR);
    if ((chosen & 3) == 2 && (options & NO_WAITING)) return 0;
    int goes_on = (chosen & 3) == 3 && (options & (STOPPED | CONTINUED));
    if (status) *status = goes_on ? paused(chosen >> 8, options) : ended(chosen >> 8);
    unsigned which = process > 0 ? 0 : crunner_choose_u32("wait");
    if (process <= 0) at = (int)(which % (unsigned)(known + !!others));
    if (at == known) {
        others -= !goes_on;
        return process > 0 ? process : other_process(which >> 8);
    }
    int child = children[at];
    if (!goes_on) children[at] = children[--known];
    return child;
}
STUB int CRUNNER_wait(int *status) { return CRUNNER_waitpid(-1, status, 0); }
