/* Choices for harnesses.
 *
 * Each of these takes its value from the run's tape: the fuzzer, the engine or a test's mock
 * environment decides what comes out. The names crunner_get_byte, crunner_get_int and
 * crunner_get_bool are those of the CRunner paper (section 2); the others follow from them. Nothing
 * here needs more than a C99 compiler.
 */
#ifndef CRUNNER_H
#define CRUNNER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/* The primitive under all others: n bytes of choice. `channel` names who asks: a test shows the
 * bytes under it. */
void crunner_choose(const char *channel, void *into, size_t n);
/* Bytes of choice that are left (for this channel, when a mock environment answers). */
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

/* A value between lo and hi, both included; lo if hi < lo. Channel "range", as few bytes as the
 * span needs, so that small ranges make small tapes. */
long crunner_range(long lo, long hi);
/* A size, or how often something is done, between these, both included. Others exist and are not
 * tried: what is proved with it says so (assumption `sizes`). */
size_t crunner_size(size_t least, size_t most);
/* A string of less than `capacity` characters, always ended by NUL. Channel "string": characters up
 * to NUL or the end of the stream. Returns its length. */
size_t crunner_get_string(char *into, size_t capacity);
/* The same from a channel of one's own. */
size_t crunner_read_string(const char *channel, char *into, size_t capacity);

/* All that is left of the input, in a block of exactly that size (free() it). Channel "bytes". To
 * be asked for last: what comes later gets zeros. */
void *crunner_get_rest(size_t *size);
/* The same as whole elements of so many bytes each, in a block that ends with the last one; how
 * many there are. */
void *crunner_get_elements(size_t element, size_t *count);
/* A string in a block of exactly its size (free() it), ended by NUL. Channel "string". */
char *crunner_new_string(void);

/* One character of a stream, or -1 at its end: 0xFF is the escape (FF 00: the end, FF xx: the
 * character FF). */
int crunner_stream_byte(const char *channel);

/* Runs where the condition does not hold are of no interest: the run ends, nothing is reported. */
void crunner_assume(int condition);
/* Reports a violation, here. */
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

/* What a function outside the program may return for a pointer, by one selector byte s. s % 3 == 0:
 * NULL; 1: a fresh object of `pointee` bytes (64 if 0) filled from the channel; 2: with
 * `raw_allowed` any 8 bytes as an address, else the object number (s / 3) modulo their count among
 * those of that size returned before, newest first, or a fresh one if there is none. */
void *crunner_mock_pointer(const char *channel, size_t pointee, int raw_allowed);

#ifdef __cplusplus
}
#endif

#endif
