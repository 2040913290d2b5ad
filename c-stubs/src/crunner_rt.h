/* The interface of the native runtime for its driver.
 *
 * A driver (the fuzzing worker, the runner) links or loads a program together with rt_tape.c and
 * runs it repeatedly on different tapes. Between two runs, the driver may restore .data and .bss to
 * their content after loading. Everything that the runtime must remember is therefore in a heap
 * object behind `struct crunner_rt`, and each crunner_rt_run() sets the single static pointer to
 * it.
 *
 * Compile rt_tape.c natively and WITHOUT redirection. The program itself must call crunner_malloc()
 * and its siblings instead of malloc() (the table of heap redirections: cegar_stubs::heap()). */
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
    CRUNNER_CRASHED = 4,   /* the signal in `status`, the accessed `address`, the faulting `pc` */
    CRUNNER_TIMED_OUT = 5, /* crunner_rt_interrupt() was called */
    CRUNNER_OUT_OF_MEMORY = 6 /* live heap bytes exceeded the limit */
};

/* What was violated. 0 to 3 come from the program's own calls, 4 and 5 from the native side. */
enum crunner_kind {
    CRUNNER_ASSERTION = 0,
    CRUNNER_ABORT = 1,
    CRUNNER_REACH_ERROR = 2,
    CRUNNER_FAIL = 3,
    CRUNNER_HEAP = 4, /* free() or realloc() of something that is not a live heap block */
    CRUNNER_TRAP = 5  /* an inserted check: `check` is its number, `status` LLVM's ubsantrap kind */
};

#define CRUNNER_NO_CHECK 0xffffffffu
/* The number of requests beyond the end of the inputs after which a run ends as by exit(0). Without
 * this limit, a program that asks in an endless loop would read zeros for ever. The engine's
 * machine ends its runs at the same request. */
#define CRUNNER_ASKED_IN_VAIN 16384u

/* The options of a runtime. All zeros: the contract's limits, nothing recorded, signals not
 * handled. */
struct crunner_options {
    uint64_t live_bytes;   /* the limit on live heap bytes; 0: 256 MiB */
    uint64_t output_bytes; /* the limit on the transcript, which is truncated; 0: 1 MiB */
    uint32_t flags;        /* CRUNNER_RECORD_* and so on */
    uint32_t reserved;
    /* Memory for medium-sized heap blocks, or NULL. The driver keeps it fresh: before each run
     * every byte of it is 0xAA. */
    void *fresh;
    uint64_t fresh_bytes;
};
#define CRUNNER_RECORD_EVENTS 1u
#define CRUNNER_RECORD_OUTPUT 2u
/* Installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT and SIGTRAP (SA_ONSTACK |
 * SA_NODEFER, alternate stack) that end the run as CRUNNER_CRASHED. A signal outside a run has its
 * default action. */
#define CRUNNER_CATCH_SIGNALS 4u

/* The result of a run. Texts are copied, so that they stay readable whatever the program did to its
 * memory. */
struct crunner_result {
    uint32_t outcome; /* enum crunner_outcome */
    int32_t status;
    uint32_t kind; /* enum crunner_kind */
    uint32_t line;
    uint32_t check;     /* CRUNNER_NO_CHECK if unknown */
    uint32_t exhausted; /* 1: a choice or a stream asked for more than the tape holds */
    uint64_t address;
    uint64_t pc;
    uint64_t consumed;  /* bytes of the tape that were read */
    uint64_t heap_live; /* bytes never freed: a leak, if the run returned */
    uint64_t heap_peak;
    char what[256];
    char file[256];
};

struct crunner_rt;

/* Creates a runtime; NULL if there is no memory for it. There is one per process, since the
 * handlers and the static pointer are shared. `options` may be NULL. */
struct crunner_rt *crunner_rt_new(const struct crunner_options *options);
void crunner_rt_delete(struct crunner_rt *rt);

/* Whether heap blocks of later runs are placed next to inaccessible pages, as far as there is room,
 * so that an access outside a block ends the run as CRUNNER_CRASHED. Addresses then differ from
 * those of other runs. */
#define CRUNNER_ENDS 1u       /* the end of a block is guarded */
#define CRUNNER_BEGINNINGS 2u /* the beginning of a block is guarded */
void crunner_rt_guard(struct crunner_rt *rt, uint32_t guard);

/* Runs cegar_entry() once on the tape, which must not be moved or freed until this returns. */
void crunner_rt_run(struct crunner_rt *rt, const uint8_t *tape, size_t length,
                    struct crunner_result *result);

/* Nonzero while a program is running. Async-signal-safe, like the two functions below. */
int crunner_rt_running(void);
/* For a timer's handler: ends the run as CRUNNER_TIMED_OUT; returns if no program is running. */
void crunner_rt_interrupt(void);
/* For handlers and report callbacks of the driver: ends the run as CRUNNER_CRASHED; returns if no
 * program is running. */
void crunner_rt_crashed(int signal, uint64_t address, uint64_t pc);

/* The choices of the last run, in order, with CRUNNER_RECORD_EVENTS: a sequence of
 *     u32 length of the channel's name, the name, u32 number of bytes, the bytes
 * in little-endian order, unaligned. The bytes are those given to the program, including zeros past
 * the tape's end. Valid until the next run. */
const uint8_t *crunner_rt_events(const struct crunner_rt *rt, size_t *length);
/* The transcript of the last run, with CRUNNER_RECORD_OUTPUT: a sequence of i32 stream, u32 length,
 * bytes. */
const uint8_t *crunner_rt_output(const struct crunner_rt *rt, size_t *length);

/* ---- functions for the program, defined in docs/architecture.md, "The runtime" ---- */

void crunner_choose(const char *channel, void *into, size_t n);
size_t crunner_remaining(const char *channel);
void crunner_assume(int condition);
_Noreturn void crunner_stop(int status);
_Noreturn void crunner_violation(int kind, const char *what, const char *file, unsigned line);
void crunner_output(int stream, const void *bytes, size_t n);
size_t crunner_object_size(const void *p);
/* For instrumentation: an inserted check failed. */
_Noreturn void __cegar_trap(uint32_t check, uint32_t kind);
/* For instrumentation, optional: the number of the check that the next failing call belongs to.
 * crunner_violation() reads it and resets it to CRUNNER_NO_CHECK. */
extern uint32_t __cegar_check;

/* The program's heap. Fresh memory contains 0xAA, and all blocks are released when the run ends. */
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
/* Zeros of unknown true size: a run that accesses memory past their end is rejected. */
void *crunner_row(size_t size);

#ifdef __cplusplus
}
#endif

#endif
