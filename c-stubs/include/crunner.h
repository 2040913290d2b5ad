/* Choices for harnesses.
 *
 * Each function takes its value from the run's tape: the fuzzer, the engine or a test's mock
 * environment decides the result. The names crunner_get_byte, crunner_get_int and crunner_get_bool
 * are those of the CRunner paper (section 2); the others are formed likewise. Only a C99 compiler
 * is needed. */
#ifndef CRUNNER_H
#define CRUNNER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/* The primitive of all other functions: chooses n bytes. `channel` names who asks for them, and a
 * test shows the bytes under this name. */
void crunner_choose(const char *channel, void *into, size_t n);
/* The number of bytes of choice that are left (in this channel, if a mock environment answers). */
size_t crunner_remaining(const char *channel);

/* One byte, channel "byte". */
unsigned char crunner_get_byte(void);
/* Any int, channel "int". */
int crunner_get_int(void);
/* Either truth value, channel "bool". */
bool crunner_get_bool(void);
/* Fills `into` with n bytes, channel "bytes". */
void crunner_get_bytes(void *into, size_t n);

/* Any value of the type; the channel is the type's name ("short", "uint", "size", ...). */
char crunner_get_char(void);
signed char crunner_get_schar(void);
short crunner_get_short(void);
unsigned short crunner_get_ushort(void);
unsigned int crunner_get_uint(void);
long crunner_get_long(void);
unsigned long crunner_get_ulong(void);
long long crunner_get_longlong(void);
unsigned long long crunner_get_ulonglong(void);
size_t crunner_get_size(void);
/* Any bit pattern: NaNs and infinities included. */
float crunner_get_float(void);
double crunner_get_double(void);

/* A value between lo and hi, both included; lo if hi < lo. Channel "range"; takes as few bytes as
 * the span needs, so that small ranges make small tapes. */
long crunner_range(long lo, long hi);
/* A size, or a number of repetitions, between these bounds, both included. Other values exist but
 * are not tried, which a proof states (assumption `sizes`). */
size_t crunner_size(size_t least, size_t most);
/* The harness relies on guesses about its callers, such as the size of memory that it passes. A
 * proof states that they hold (assumption `guesses`). */
void crunner_guessed(void);
/* Reads a string of less than `capacity` characters, always terminated by NUL. Channel "string":
 * characters up to NUL or the end of the stream. Returns the length. */
size_t crunner_get_string(char *into, size_t capacity);
/* The same from another channel. */
size_t crunner_read_string(const char *channel, char *into, size_t capacity);

/* All that is left of the input, in a block of exactly that size (release it with free()). Channel
 * "bytes". Must be called last, since later choices are zeros. */
void *crunner_get_rest(size_t *size);
/* The same as whole elements of `element` bytes each, in a block that ends with the last element.
 * Stores their number in `count`. */
void *crunner_get_elements(size_t element, size_t *count);
/* A string terminated by NUL, in a block of exactly its size (release it with free()). Channel
 * "string". */
char *crunner_new_string(void);

/* One character of a stream, or -1 at its end. 0xFF is the escape (FF 00: the end, FF xx: the
 * character FF). */
int crunner_stream_byte(const char *channel);

/* Ends the run, without a report, if the condition does not hold, since such runs are
 * irrelevant. */
void crunner_assume(int condition);
/* Reports a violation at this place. */
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void crunner_fail_at(const char *message, const char *file, unsigned line);
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void crunner_fail(const char *message);
#define crunner_fail(message) crunner_fail_at((message), __FILE__, __LINE__)
/* crunner_fail() unless the condition holds. */
#define crunner_check(condition) \
    ((condition) ? (void)0 : crunner_fail_at(#condition, __FILE__, __LINE__))

/* What a function outside the program may return as a pointer, chosen by a selector byte s. If s %
 * 3 is 0: NULL. If it is 1: a fresh object of `pointee` bytes (64 if 0), filled from the channel.
 * Otherwise: with `raw_allowed`, any 8 bytes as an address; without it, an object of this size that
 * was returned before, namely number s / 3 modulo their count, newest first, or a fresh object if
 * there is none. */
void *crunner_mock_pointer(const char *channel, size_t pointee, int raw_allowed);

#ifdef __cplusplus
}
#endif

#endif
