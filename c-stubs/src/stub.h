/* Declarations that all stubs share.
 *
 * Stubs are compiled to bitcode for the engine and the fuzzer, and natively by any C compiler for
 * generated tests. They have their own names (CRUNNER_getchar), so that calls within the C library
 * are not redirected, and are weak, so that a program's own definition takes precedence. Structures
 * of the platform come from its headers where a stub fills one; no stub calls the platform for
 * input or output.
 *
 * Natively (CRUNNER_NATIVE) the program's heap is the runtime's, so memory that a stub returns to
 * the program must come from there too. */
#ifndef CRUNNER_STUB_H
#define CRUNNER_STUB_H

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define STUB __attribute__((weak))
/* Many stubs ignore some of their parameters. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* The runtime. */
void crunner_choose(const char *channel, void *into, size_t n);
size_t crunner_remaining(const char *channel);
void crunner_assume(int condition);
_Noreturn void crunner_stop(int status);
_Noreturn void crunner_violation(int kind, const char *what, const char *file, unsigned line);
void crunner_output(int stream, const void *bytes, size_t n);
enum { VIOLATES_ASSERTION, VIOLATES_ABORT, VIOLATES_REACH_ERROR, VIOLATES_FAIL };
/* In generated tests of a harness that asks for `unreach`, abort() is not a violation: it ends the
 * run as SIGABRT does. */
#ifdef CRUNNER_ABORT_ENDS
_Noreturn void crunner_finish_at_once(int status);
#define ABORTS(what) crunner_finish_at_once(128 + 6)
#else
#define ABORTS(what) crunner_violation(VIOLATES_ABORT, what, 0, 0)
#endif

/* Whether a narrowing applies: 1 while the rule with this identifier is assumed, 0 if the user
 * lifted it. The identifier is a literal from the engine's table of assumptions. After an assumed
 * call the stub has the narrow outcome, and a proof that passes the call prints the rule:
 *     if (!crunner_assumed("alloc")) {
 *         ...a choice from the tape for every outcome, where zeros choose the narrow one...
 *     }
 *     ...the narrow outcome...
 * In generated tests the result is always 0, and an exhausted queue yields zeros, so zeros must
 * choose the narrow outcome. The channel of such choices must not be used for other choices: while
 * the rule is assumed, these choices are not on the channel, and others would be taken for them. */
int crunner_assumed(const char *id);
/* For a rule without a wider variant: `if (!crunner_assumed("ID")) crunner_unmodelled("what it
 * leaves out");`. In the engine nothing after this call is proved, and a native run is rejected. In
 * generated tests the call has no effect, so the narrow outcome follows. */
void crunner_unmodelled(const char *what);

#ifdef CRUNNER_NATIVE
#define malloc crunner_malloc
#define calloc crunner_calloc
#define realloc crunner_realloc
#define free crunner_free
#endif
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *block, size_t size);
void free(void *block);

/* The platform's own functions natively, those of the engine-only sources in the engine. */
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *to, int byte, size_t n);
int snprintf(char *restrict to, size_t n, const char *restrict format, ...);
int vsnprintf(char *restrict to, size_t n, const char *restrict format, va_list args);
float strtof(const char *restrict text, char **restrict end);
double strtod(const char *restrict text, char **restrict end);
long double strtold(const char *restrict text, char **restrict end);

int *__errno_location(void);
#define stub_errno (*__errno_location())
/* Linux's error numbers, so that <errno.h> is not needed. */
enum {
    STUB_EPERM = 1,
    STUB_ENOENT = 2,
    STUB_ESRCH = 3,
    STUB_EINTR = 4,
    STUB_EIO = 5,
    STUB_ENXIO = 6,
    STUB_E2BIG = 7,
    STUB_ENOEXEC = 8,
    STUB_EBADF = 9,
    STUB_ECHILD = 10,
    STUB_EAGAIN = 11,
    STUB_ENOMEM = 12,
    STUB_EACCES = 13,
    STUB_EBUSY = 16,
    STUB_EEXIST = 17,
    STUB_EXDEV = 18,
    STUB_ENODEV = 19,
    STUB_ENOTDIR = 20,
    STUB_EISDIR = 21,
    STUB_EINVAL = 22,
    STUB_ENFILE = 23,
    STUB_EMFILE = 24,
    STUB_ENOTTY = 25,
    STUB_ETXTBSY = 26,
    STUB_EFBIG = 27,
    STUB_ENOSPC = 28,
    STUB_ESPIPE = 29,
    STUB_EROFS = 30,
    STUB_EMLINK = 31,
    STUB_EPIPE = 32,
    STUB_EDOM = 33,
    STUB_ERANGE = 34,
    STUB_EDEADLK = 35,
    STUB_ENAMETOOLONG = 36,
    STUB_ENOLCK = 37,
    STUB_ENOSYS = 38,
    STUB_ENOTEMPTY = 39,
    STUB_ELOOP = 40,
    STUB_EOVERFLOW = 75,
    STUB_EDQUOT = 122
};

/* choice.c */
unsigned char crunner_choose_byte(const char *channel);
unsigned crunner_choose_u32(const char *channel);
unsigned long long crunner_choose_u64(const char *channel);
int crunner_stream_byte(const char *channel);
/* The longest string that execve() accepts on Linux (MAX_ARG_STRLEN), including its NUL. */
#define LONGEST_ARGUMENT (32 * 4096)
/* Reads a string from a channel into a heap block of exactly its size; NULL if there is no
 * memory. */
char *crunner_choose_string(const char *channel);
/* The concatenation of `prefix` and `name`, in a heap block. */
char *crunner_channel(const char *prefix, const char *name);
size_t crunner_read_string(const char *channel, char *into, size_t capacity);

/* process.c: runs the handlers of atexit() and the cleanups of stubs, and ends the run. */
_Noreturn void crunner_finish(int status);
/* Ends the run as a signal ends a program: no handler runs. */
_Noreturn void crunner_finish_at_once(int status);
/* Registers a function to be called at the end of a run, to release a stub's own heap blocks, so
 * that they are not leaks. */
void crunner_at_end(void (*cleanup)(void));

/* signals.c: relies on what the narrowing "inherited" says of the start of the process. */
void crunner_inherits_the_usual(void);

/* fault.c: what the system may refuse. Reads one byte of the channel. Below 128, the call succeeds.
 * 128 plus an error number from one of the two sets (errors up to 63, and from 64) makes it fail
 * with this error, and errno is set. 128 alone means FAULT_SHORT if that is in the set (bit 0).
 * Returns 0, the error, or FAULT_SHORT. */
#define FAULT_SHORT (-1)
#define E(error) (1ull << (STUB_##error & 63))
#define MAY_BE_SHORT 1ull
int crunner_fault(const char *channel, unsigned long long low, unsigned long long high);
/* Whether output to a stream fails, which has a separate narrowing ("output"). */
int crunner_output_fails(void);
/* The next byte of an input stream: -1 at its end, INPUT_FAILS (errno is set), or INPUT_PAUSES if
 * no more has arrived yet. */
#define INPUT_FAILS (-2)
#define INPUT_PAUSES (-3)
int crunner_input_byte(const char *channel);

/* clock.c: advances every clock by at least this time. */
void crunner_time_passes(long seconds, long nanoseconds);

/* signals.c: a point at which a signal may arrive. */
void crunner_signals_arrive(void);
int CRUNNER_raise(int number);

/* clock.c: in the order of <langinfo.h>, the short and long names of days, then of months, AM and
 * PM, and the formats of date and time. */
#define STUB_CALENDAR 44
extern char *const crunner_calendar[STUB_CALENDAR];

#endif
