/* The native runtime as its driver sees it.
 *
 * A driver (the fuzzing worker, the runner) links or loads a program together with rt_tape.c and
 * runs it again and again on different tapes. Between two runs the driver may copy .data and .bss
 * back to what they were after loading; that is why everything the runtime must remember lives in a
 * heap object behind `struct crunner_rt`, and the one static pointer to it is set anew by each
 * crunner_rt_run().
 *
 * Compile rt_tape.c natively and WITHOUT redirection. The program itself must call crunner_malloc()
 * and its siblings instead of malloc() (the table of heap redirections: cegar_stubs::heap()).
 */
#ifndef CRUNNER_RT_H
#define CRUNNER_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a run ended. */
enum crunner_outcome {
    CRUNNER_RETURNED = 0,  /* cegar_entry returned */
    CRUNNER_EXITED = 1,    /* crunner_stop: `status` is the exit status (main's result, exit()) */
    CRUNNER_REJECTED = 2,  /* an assumption does not hold */
    CRUNNER_VIOLATED = 3,  /* `kind`, `what`, `file`, `line`; `check` if known */
    CRUNNER_CRASHED = 4,   /* `status` is the signal, `address` what was accessed, `pc` where */
    CRUNNER_TIMED_OUT = 5, /* crunner_rt_interrupt() was called */
    CRUNNER_OUT_OF_MEMORY = 6 /* live heap bytes passed the limit */
};

/* What was violated. 0 to 3 come from the program's own calls, the others from the native side. */
enum crunner_kind {
    CRUNNER_ASSERTION = 0,
    CRUNNER_ABORT = 1,
    CRUNNER_REACH_ERROR = 2,
    CRUNNER_FAIL = 3,
    CRUNNER_HEAP = 4, /* free/realloc of what is no live heap block */
    CRUNNER_TRAP = 5  /* an inserted check: `check` is its number, `status` LLVM's ubsantrap kind */
};

#define CRUNNER_NO_CHECK 0xffffffffu
/* How often a run may ask for more than its inputs hold; then it ends as by exit(0). A program that
 * asks in an endless loop would spin for ever on zeros. The engine's machine ends its runs at the
 * same question. */
#define CRUNNER_ASKED_IN_VAIN 16384u

/* What is wished for; all zeros means: the contract's limits, nothing recorded, signals left alone.
 */
struct crunner_options {
    uint64_t live_bytes;   /* more ends the run; 0: 256 MiB */
    uint64_t output_bytes; /* the transcript is cut here; 0: 1 MiB */
    uint32_t flags;        /* CRUNNER_RECORD_* and so on */
    uint32_t reserved;
    /* Memory for middle-sized heap blocks, or NULL. The driver keeps it fresh: before each run
     * every byte of it holds 0xAA. */
    void *fresh;
    uint64_t fresh_bytes;
};
#define CRUNNER_RECORD_EVENTS 1u
#define CRUNNER_RECORD_OUTPUT 2u
/* Install handlers (SA_ONSTACK | SA_NODEFER, own alternate stack) for SIGSEGV, SIGBUS, SIGFPE,
 * SIGILL, SIGABRT and SIGTRAP that end the run as CRUNNER_CRASHED. A signal outside a run gets the
 * default action. */
#define CRUNNER_CATCH_SIGNALS 4u

/* What one run did. Text is copied, so it stays readable whatever the program did to its memory. */
struct crunner_result {
    uint32_t outcome; /* enum crunner_outcome */
    int32_t status;
    uint32_t kind; /* enum crunner_kind */
    uint32_t line;
    uint32_t check;     /* CRUNNER_NO_CHECK where unknown */
    uint32_t exhausted; /* 1: a choice or a stream asked for more than the tape holds */
    uint64_t address;
    uint64_t pc;
    uint64_t consumed;  /* bytes of the tape taken */
    uint64_t heap_live; /* bytes never freed: a leak, if the run returned */
    uint64_t heap_peak;
    char what[256];
    char file[256];
};

struct crunner_rt;

/* A runtime, or NULL when the machine has no memory for it. One per process: the handlers and the
 * static pointer are shared. `options` may be NULL. */
struct crunner_rt *crunner_rt_new(const struct crunner_options *options);
void crunner_rt_delete(struct crunner_rt *rt);

/* Whether later runs have their heap blocks, as far as there is room, between pages that may not be
 * touched, so that an access past a block ends the run as CRUNNER_CRASHED. Addresses are others
 * than else. */
#define CRUNNER_ENDS 1u       /* a block ends where it may not be touched */
#define CRUNNER_BEGINNINGS 2u /* a block begins where it may */
void crunner_rt_guard(struct crunner_rt *rt, uint32_t guard);

/* Runs cegar_entry() once on the tape. The tape must stay where it is until this returns. */
void crunner_rt_run(struct crunner_rt *rt, const uint8_t *tape, size_t length,
                    struct crunner_result *result);

/* Nonzero while a program runs. Async-signal-safe, as are the two below. */
int crunner_rt_running(void);
/* For a timer's handler: ends the run as CRUNNER_TIMED_OUT; returns (doing nothing) if none is
 * under way. */
void crunner_rt_interrupt(void);
/* For handlers and report callbacks of the driver's own: ends the run as CRUNNER_CRASHED; returns
 * if none is under way. */
void crunner_rt_crashed(int signal, uint64_t address, uint64_t pc);

/* The choices of the last run, in order, if CRUNNER_RECORD_EVENTS: a sequence of
 *     u32 length of the channel's name, the name, u32 number of bytes, the bytes
 * little-endian, unaligned. The bytes are those given to the program, zeros past the tape's end
 * included. Valid until the next run. */
const uint8_t *crunner_rt_events(const struct crunner_rt *rt, size_t *length);
/* The transcript of the last run, if CRUNNER_RECORD_OUTPUT: a sequence of i32 stream, u32 length,
 * bytes. */
const uint8_t *crunner_rt_output(const struct crunner_rt *rt, size_t *length);

/* ---- what the program calls; the meaning is in docs/architecture.md, "The runtime" ---- */

void crunner_choose(const char *channel, void *into, size_t n);
size_t crunner_remaining(const char *channel);
void crunner_assume(int condition);
_Noreturn void crunner_stop(int status);
_Noreturn void crunner_violation(int kind, const char *what, const char *file, unsigned line);
void crunner_output(int stream, const void *bytes, size_t n);
size_t crunner_object_size(const void *p);
/* Instrumentation's own: an inserted check failed. */
_Noreturn void __cegar_trap(uint32_t check, uint32_t kind);
/* Instrumentation's own, optional: the number of the check that the next failing call stands for;
 * taken (and set back to CRUNNER_NO_CHECK) by crunner_violation(). */
extern uint32_t __cegar_check;

/* The program's heap: memory holds 0xAA, all of it is given back when the run ends. */
void *crunner_malloc(size_t size);
void *crunner_calloc(size_t count, size_t size);
void *crunner_realloc(void *block, size_t size);
void *crunner_reallocarray(void *block, size_t count, size_t size);
void crunner_free(void *block);
void *crunner_aligned_alloc(size_t alignment, size_t size);
int crunner_posix_memalign(void **into, size_t alignment, size_t size);
void *crunner_memalign(size_t alignment, size_t size);
void *crunner_valloc(size_t size);
size_t crunner_malloc_usable_size(void *block);
/* Zeros of which nobody knows the true size: a run that goes past their end is rejected. */
void *crunner_row(size_t size);

#ifdef __cplusplus
}
#endif

#endif
