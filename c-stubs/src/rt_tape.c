/* The native runtime that feeds a program from one tape, for the fuzzing target and the runner.
 *
 * Every end of a run (exit, rejection, violation, signal, time limit) jumps back to
 * crunner_rt_run(), so that one process can run millions of tapes. A signal handler may interrupt
 * the runtime while it grows a buffer, when a jump would corrupt the C library's heap; `busy`
 * delays such an end until the buffer has grown. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "crunner_rt.h"
#include "rt_heap.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

extern void cegar_entry(void);

struct buffer {
    uint8_t *bytes;
    size_t length, capacity;
};

struct crunner_rt {
    struct crunner_options options;
    struct crunner_heap *heap;
    const uint8_t *tape;
    size_t length, at;
    uint32_t asked_in_vain;
    struct crunner_result *result;
    struct buffer events, output;
    volatile sig_atomic_t running, busy, pending;
    sigjmp_buf back;
    void *signal_stack;
};

uint32_t __cegar_check = CRUNNER_NO_CHECK;

static struct crunner_rt *now;

#define SIGNAL_STACK (64u << 10)

_Noreturn static void end(uint32_t outcome, int status) {
    now->result->outcome = outcome;
    now->result->status = status;
    now->running = 0;
    siglongjmp(now->back, 1);
}

static void copy_text(char into[256], const char *from) {
    size_t i = 0;
    if (from)
        for (; i < 255 && from[i]; i++) into[i] = from[i];
    into[i] = 0;
}

/* ---- recording ---- */

static int reserve(struct buffer *b, size_t more) {
    if (b->capacity - b->length >= more) return 1;
    size_t capacity = b->capacity ? b->capacity : 4096;
    while (capacity - b->length < more) capacity *= 2;
    now->busy = 1;
    uint8_t *bytes = realloc(b->bytes, capacity);
    if (bytes) {
        b->bytes = bytes;
        b->capacity = capacity;
    }
    now->busy = 0;
    if (now->pending) end(CRUNNER_TIMED_OUT, 0);
    return bytes != NULL;
}

static void append(struct buffer *b, const void *bytes, size_t n) {
    memcpy(b->bytes + b->length, bytes, n);
    b->length += n;
}

static void record_event(const char *channel, const void *bytes, size_t n) {
    uint32_t name = (uint32_t)strlen(channel), length = (uint32_t)n;
    if (!reserve(&now->events, n + name + 8)) return;
    append(&now->events, &name, 4);
    append(&now->events, channel, name);
    append(&now->events, &length, 4);
    append(&now->events, bytes, n);
}

void crunner_output(int stream, const void *bytes, size_t n) {
    if (!(now->options.flags & CRUNNER_RECORD_OUTPUT)) return;
    struct buffer *out = &now->output;
    if (out->length >= now->options.output_bytes) return;
    if (n > now->options.output_bytes - out->length) n = now->options.output_bytes - out->length;
    int32_t where = stream;
    uint32_t length = (uint32_t)n;
    if (!reserve(out, n + 8)) return;
    append(out, &where, 4);
    append(out, &length, 4);
    append(out, bytes, n);
}

/* ---- choices ---- */

/* The tape holds less than what is asked for. */
static void found_empty(void) {
    now->result->exhausted = 1;
    if (++now->asked_in_vain > CRUNNER_ASKED_IN_VAIN) end(CRUNNER_EXITED, 0);
}

void crunner_choose(const char *channel, void *into, size_t n) {
    struct crunner_rt *rt = now;
    size_t left = rt->length - rt->at, taken = n < left ? n : left;
    if (taken) memcpy(into, rt->tape + rt->at, taken);
    rt->at += taken;
    if (taken < n) {
        memset((char *)into + taken, 0, n - taken);
        found_empty();
    }
    if (rt->options.flags & CRUNNER_RECORD_EVENTS) record_event(channel, into, n);
}

size_t crunner_remaining(const char *channel) {
    (void)channel;
    if (now->at == now->length) found_empty();
    return now->length - now->at;
}

size_t crunner_object_size(const void *p) {
    (void)p;
    return 0;
}

/* ---- ends ---- */

void crunner_assume(int condition) {
    if (!condition) end(CRUNNER_REJECTED, 0);
}

/* For a lifted narrowing, the call was replaced by a constant; the remaining calls are those of
 * narrowings that are assumed. */
int crunner_assumed(const char *id) {
    (void)id;
    return 1;
}

void crunner_unmodelled(const char *what) {
    (void)what;
    end(CRUNNER_REJECTED, 0);
}

_Noreturn void crunner_stop(int status) { end(CRUNNER_EXITED, status); }

_Noreturn void crunner_violation(int kind, const char *what, const char *file, unsigned line) {
    struct crunner_result *r = now->result;
    r->kind = (uint32_t)kind;
    r->line = line;
    r->check = __cegar_check;
    __cegar_check = CRUNNER_NO_CHECK;
    copy_text(r->what, what);
    copy_text(r->file, file);
    end(CRUNNER_VIOLATED, 0);
}

_Noreturn void __cegar_trap(uint32_t check, uint32_t kind) {
    now->result->kind = CRUNNER_TRAP;
    now->result->check = check;
    end(CRUNNER_VIOLATED, (int)kind);
}

_Noreturn void crunner_heap_exhausted(void) { end(CRUNNER_OUT_OF_MEMORY, 0); }

int crunner_rt_running(void) { return now && now->running; }

void crunner_rt_interrupt(void) {
    if (!now || !now->running) return;
    if (now->busy) {
        now->pending = 1;
        return;
    }
    end(CRUNNER_TIMED_OUT, 0);
}

void crunner_rt_crashed(int signal, uint64_t address, uint64_t pc) {
    if (!now || !now->running) return;
    if (crunner_is_past_row(now->heap, address)) end(CRUNNER_REJECTED, 0);
    now->result->address = address;
    now->result->pc = pc;
    end(CRUNNER_CRASHED, signal);
}

/* ---- signals ---- */

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

static void on_signal(int signal, siginfo_t *info, void *context) {
    uint64_t pc = 0;
#if defined(__x86_64__)
    pc = (uint64_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    pc = ((ucontext_t *)context)->uc_mcontext.pc;
#else
    (void)context;
#endif
    crunner_rt_crashed(signal, signal == SIGABRT ? 0 : (uint64_t)(uintptr_t)info->si_addr, pc);
    /* No program is running: restore the default action and raise the signal again. */
    struct sigaction plain;
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    sigaction(signal, &plain, NULL);
    raise(signal);
}

static int install(struct crunner_rt *rt) {
    stack_t stack;
    memset(&stack, 0, sizeof stack);
    rt->signal_stack = malloc(SIGNAL_STACK);
    if (!rt->signal_stack) return 0;
    stack.ss_sp = rt->signal_stack;
    stack.ss_size = SIGNAL_STACK;
    if (sigaltstack(&stack, NULL)) return 0;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        if (sigaction(caught[i], &action, NULL)) return 0;
    return 1;
}

/* ---- functions for the driver ---- */

struct crunner_rt *crunner_rt_new(const struct crunner_options *options) {
    struct crunner_rt *rt = calloc(1, sizeof *rt);
    if (!rt) return NULL;
    if (options) rt->options = *options;
    if (!rt->options.output_bytes) rt->options.output_bytes = 1u << 20;
    rt->heap = crunner_heap_new(rt->options.live_bytes);
    if (rt->heap && rt->options.fresh)
        crunner_heap_lend(rt->heap, rt->options.fresh, rt->options.fresh_bytes);
    if (!rt->heap || ((rt->options.flags & CRUNNER_CATCH_SIGNALS) && !install(rt))) {
        crunner_rt_delete(rt);
        return NULL;
    }
    return rt;
}

void crunner_rt_delete(struct crunner_rt *rt) {
    if (!rt) return;
    if (now == rt) now = NULL;
    if (rt->signal_stack) {
        stack_t off;
        memset(&off, 0, sizeof off);
        off.ss_flags = SS_DISABLE;
        for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) signal(caught[i], SIG_DFL);
        sigaltstack(&off, NULL);
        free(rt->signal_stack);
    }
    crunner_heap_delete(rt->heap);
    free(rt->events.bytes);
    free(rt->output.bytes);
    free(rt);
}

void crunner_rt_guard(struct crunner_rt *rt, uint32_t guard) {
    crunner_heap_guard(rt->heap, guard);
}

void crunner_rt_run(struct crunner_rt *rt, const uint8_t *tape, size_t length,
                    struct crunner_result *result) {
    now = rt;
    rt->tape = tape;
    rt->length = length;
    rt->at = 0;
    rt->asked_in_vain = 0;
    rt->result = result;
    rt->events.length = rt->output.length = 0;
    rt->busy = rt->pending = 0;
    result->outcome = CRUNNER_RETURNED;
    result->status = 0;
    result->kind = result->line = result->exhausted = 0;
    result->check = CRUNNER_NO_CHECK;
    result->address = result->pc = 0;
    result->what[0] = result->file[0] = 0;
    __cegar_check = CRUNNER_NO_CHECK;
    crunner_heap_begin(rt->heap);
    errno = 0;
    if (!sigsetjmp(rt->back, 0)) {
        rt->running = 1;
        cegar_entry();
        rt->running = 0;
    }
    result->consumed = rt->at;
    result->heap_live = crunner_heap_live(rt->heap);
    result->heap_peak = crunner_heap_peak(rt->heap);
    crunner_heap_end(rt->heap);
}

const uint8_t *crunner_rt_events(const struct crunner_rt *rt, size_t *length) {
    *length = rt->events.length;
    return rt->events.bytes;
}

const uint8_t *crunner_rt_output(const struct crunner_rt *rt, size_t *length) {
    *length = rt->output.length;
    return rt->output.bytes;
}
