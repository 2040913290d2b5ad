/* What all stubs share.
 *
 * Stubs are compiled to bitcode for the engine and the fuzzer, and natively by any C compiler for generated tests. They
 * carry names of their own (CRUNNER_getchar), weak, so that nothing of the C library is replaced inside the
 * library itself, and a program's own definition wins. Layouts of the platform's structures come from its headers
 * where a stub fills one; nothing here calls the platform for input or output.
 *
 * Natively (CRUNNER_NATIVE) the program's heap is the runtime's, and memory that a stub hands to the program must come from
 * there too.
 */
#ifndef CRUNNER_STUB_H
#define CRUNNER_STUB_H

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define STUB __attribute__((weak))
/* Many a stub has no use for what it is given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* The runtime. */
void crunner_choose(const char *channel, void *into, size_t n);
size_t crunner_remaining(const char *channel);
void crunner_assume(int condition);
_Noreturn void crunner_stop(int status);
_Noreturn void crunner_violation(int kind, const char *what, const char *file, unsigned line);
void crunner_output(int stream, const void *bytes, size_t n);
enum { VIOLATES_ASSERTION, VIOLATES_ABORT, VIOLATES_REACH_ERROR, VIOLATES_FAIL };

/* Where a stub is narrower than the world: 1 while the rule with this identifier is assumed, 0 where the user lifted it. The
 * identifier is a literal, and stands in the engine's table of assumptions. What lies behind an assumed call is a narrow answer, and a
 * proof that comes by prints the rule:
 *     if (!crunner_assumed("alloc")) { ...a choice from the tape, every outcome; all zeros: the narrow one... }
 *     ...the narrow outcome...
 * In generated tests it is always 0, and an exhausted queue gives zeros: so zeros have to mean the narrow outcome. A channel of
 * such choices is no other's: where the rule is assumed they are not on it, and the others would be taken for them. */
int crunner_assumed(const char *id);
/* For a rule without a wider variant: `if (!crunner_assumed("ID")) crunner_unmodelled("what it leaves out");`. In the engine nothing
 * behind it is proved, and a native run is rejected. In generated tests it does nothing: there the narrow outcome follows. */
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

/* The platform's own natively, the engine-only sources' in the engine. */
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *to, int byte, size_t n);
int vsnprintf(char *restrict to, size_t n, const char *restrict format, va_list args);
double strtod(const char *restrict text, char **restrict end);

int *__errno_location(void);
#define stub_errno (*__errno_location())
/* Linux's numbers; <errno.h> is not needed for these few. */
enum {
    STUB_EPERM = 1, STUB_ENOENT = 2, STUB_EBADF = 9, STUB_EAGAIN = 11, STUB_ENOMEM = 12, STUB_EEXIST = 17,
    STUB_EINVAL = 22, STUB_EMFILE = 24, STUB_ENOTTY = 25, STUB_ESPIPE = 29, STUB_ERANGE = 34, STUB_ENOSYS = 38
};

/* choice.c */
unsigned char crunner_choose_byte(const char *channel);
unsigned crunner_choose_u32(const char *channel);
unsigned long long crunner_choose_u64(const char *channel);
int crunner_stream_byte(const char *channel);
/* A string from a channel in a heap block of exactly its size, or NULL when there is no memory. */
char *crunner_choose_string(const char *channel);
/* "prefix" followed by "name", on the heap. */
char *crunner_channel(const char *prefix, const char *name);
size_t crunner_read_string(const char *channel, char *into, size_t capacity);

/* process.c: runs the handlers of atexit(), then what stubs want done, and stops. */
_Noreturn void crunner_finish(int status);
/* What a stub wants done at the end of a run (its own heap blocks given back, so that they are no leaks). */
void crunner_at_end(void (*cleanup)(void));

/* By default output works, always. Built with CRUNNER_OUTPUT_MAY_FAIL, each output call takes a byte of its own name's channel
 * and fails if its lowest bit is set: CRunner's figure 5, where it returns just anything. That is off because one choice
 * per line of output swamps the tape, and a test with what the program read in it. */
#ifdef CRUNNER_OUTPUT_MAY_FAIL
#define output_fails(name) (crunner_choose_byte(name) & 1)
#else
#define output_fails(name) ((void)(name), 0)
#endif

#endif
