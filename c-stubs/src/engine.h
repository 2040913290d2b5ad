/* Declarations that the engine-only sources share.
 *
 * These sources implement the C library's pure functions in C, for an engine that checks each
 * access. Every function reads and writes only the bytes that the C standard lets it access, one by
 * one where it must not read ahead. Native products use the platform's own functions. With NAME(),
 * a test compiles these functions under other names and compares the two. */
#ifndef CRUNNER_ENGINE_H
#define CRUNNER_ENGINE_H

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wuninitialized"

#ifdef CRUNNER_ENGINE_TEST
#define NAME(name) engine_##name
#else
#define NAME(name) name
#endif

void *malloc(size_t size);
void free(void *block);

int *NAME(__errno_location)(void);
#define engine_errno (*NAME(__errno_location)())
enum { ENGINE_EINVAL = 22, ENGINE_ERANGE = 34, ENGINE_EILSEQ = 84, ENGINE_EOVERFLOW = 75 };

size_t NAME(strlen)(const char *s);
size_t NAME(strnlen)(const char *s, size_t n);
int NAME(vsnprintf)(char *restrict to, size_t n, const char *restrict format, va_list args);

/* Where this library models less than the platform's; see stub.h. */
#ifdef CRUNNER_ENGINE_TEST
#define crunner_assumed(id) 1
#define crunner_unmodelled(what) ((void)0)
#else
int crunner_assumed(const char *id);
void crunner_unmodelled(const char *what);
#endif

/* Any number with the sign of this one, since the value of a comparison's result is unspecified.
 * The machine, in which an undefined number has a fixed pattern, returns the number itself. */
static inline int engine_of_sign(int number) {
#ifdef CRUNNER_ENGINE_TEST
    return number;
#else
    unsigned undefined;
    int other = (int)((unsigned)number + (undefined - 0xaaaaaaaau));
    return (other > 0) == (number > 0) && (other < 0) == (number < 0) ? other : number;
#endif
}

/* An unspecified choice between two results; 0 in the machine. */
static inline int engine_perhaps(void) {
#ifdef CRUNNER_ENGINE_TEST
    return 0;
#else
    unsigned undefined;
    return (int)((undefined - 0xaaaaaaaau) & 1u);
#endif
}

/* The host's printf for one conversion without a length modifier, and its strtod. */
int crunner_format_float(char *to, size_t room, const char *spec, double value);
double crunner_parse_float(const char *from, size_t n);

_Noreturn void crunner_violation(int kind, const char *what, const char *file, unsigned line);

/* Character classes of the C locale, for the characters -1 to 255. */
static inline int engine_is_digit(int c) { return c >= '0' && c <= '9'; }
static inline int engine_is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static inline int engine_is_upper(int c) { return c >= 'A' && c <= 'Z'; }
static inline int engine_is_lower(int c) { return c >= 'a' && c <= 'z'; }
static inline int engine_to_lower(int c) { return engine_is_upper(c) ? c + 32 : c; }
static inline int engine_to_upper(int c) { return engine_is_lower(c) ? c - 32 : c; }

#endif
