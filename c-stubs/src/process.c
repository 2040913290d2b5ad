/* How a program ends, and what it cannot start: other processes.
 *
 * exit() runs the handlers of atexit(), newest first, as C asks. abort() and a failed assert() are violations, not
 * ends. A process that would be started is one that cannot be: fork() fails, exec*() fails, system(NULL) says that
 * there is no shell. That is a behaviour which every platform allows.
 */
#include "stub.h"

#define HANDLERS 32

static void (*handlers[HANDLERS])(void);
static void (*quick_handlers[HANDLERS])(void);
static void (*cleanups[8])(void);
static int handler_count, quick_count, cleanup_count;

STUB void crunner_at_end(void (*cleanup)(void)) {
    if (cleanup_count < 8) cleanups[cleanup_count++] = cleanup;
}

static void clean(void) {
    while (cleanup_count > 0) cleanups[--cleanup_count]();
}

_Noreturn STUB void crunner_finish(int status) {
    while (handler_count > 0) handlers[--handler_count]();
    clean();
    crunner_stop(status);
}

STUB int CRUNNER_atexit(void (*handler)(void)) {
    if (handler_count == HANDLERS) return -1;
    handlers[handler_count++] = handler;
    return 0;
}

STUB int CRUNNER_at_quick_exit(void (*handler)(void)) {
    if (quick_count == HANDLERS) return -1;
    quick_handlers[quick_count++] = handler;
    return 0;
}

_Noreturn STUB void CRUNNER_exit(int status) { crunner_finish(status & 0xff); }

_Noreturn STUB void CRUNNER_quick_exit(int status) {
    while (quick_count > 0) quick_handlers[--quick_count]();
    clean();
    crunner_stop(status & 0xff);
}

_Noreturn STUB void CRUNNER__exit(int status) {
    clean();
    crunner_stop(status & 0xff);
}

_Noreturn STUB void CRUNNER__Exit(int status) { CRUNNER__exit(status); }

_Noreturn STUB void CRUNNER_abort(void) { crunner_violation(VIOLATES_ABORT, "abort", 0, 0); }

_Noreturn STUB void CRUNNER___assert_fail(const char *expression, const char *file, unsigned line, const char *function) {
    (void)function;
    crunner_violation(VIOLATES_ASSERTION, expression, file, line);
}

_Noreturn STUB void CRUNNER___assert(const char *expression, const char *file, int line) {
    crunner_violation(VIOLATES_ASSERTION, expression, file, (unsigned)line);
}

_Noreturn STUB void CRUNNER___assert_perror_fail(int error, const char *file, unsigned line, const char *function) {
    (void)error;
    (void)function;
    crunner_violation(VIOLATES_ASSERTION, "unexpected error", file, line);
}

_Noreturn STUB void CRUNNER___chk_fail(void) { crunner_violation(VIOLATES_ABORT, "buffer overflow detected", 0, 0); }
_Noreturn STUB void CRUNNER___stack_chk_fail(void) { crunner_violation(VIOLATES_ABORT, "stack smashing detected", 0, 0); }

STUB int CRUNNER_raise(int signal) {
    if (signal == 6) CRUNNER_abort();
    return 0;
}

STUB int CRUNNER_kill(int process, int signal) {
    (void)process;
    (void)signal;
    stub_errno = STUB_EPERM;
    return -1;
}

STUB int CRUNNER_system(const char *command) { return command ? -1 : 0; }

STUB void *CRUNNER_popen(const char *command, const char *mode) {
    (void)command;
    (void)mode;
    stub_errno = STUB_EAGAIN;
    return 0;
}

STUB int CRUNNER_pclose(void *stream) {
    (void)stream;
    stub_errno = STUB_EINVAL;
    return -1;
}

STUB int CRUNNER_fork(void) {
    stub_errno = STUB_EAGAIN;
    return -1;
}
STUB int CRUNNER_vfork(void) { return CRUNNER_fork(); }

#define EXEC(name, ...)                \
    STUB int CRUNNER_##name(__VA_ARGS__) { \
        (void)path;                    \
        stub_errno = STUB_ENOENT;      \
        return -1;                     \
    }
EXEC(execl, const char *path, ...)
EXEC(execlp, const char *path, ...)
EXEC(execle, const char *path, ...)
EXEC(execv, const char *path, char *const argv[])
EXEC(execvp, const char *path, char *const argv[])
EXEC(execve, const char *path, char *const argv[], char *const envp[])

STUB int CRUNNER_wait(int *status) {
    (void)status;
    stub_errno = 10; /* ECHILD */
    return -1;
}
STUB int CRUNNER_waitpid(int process, int *status, int options) {
    (void)process;
    (void)options;
    return CRUNNER_wait(status);
}
