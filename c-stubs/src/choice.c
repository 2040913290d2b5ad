/* The choices of crunner.h, all based on crunner_choose(). */
#include "stub.h"
#include <stdbool.h>

STUB unsigned char crunner_choose_byte(const char *channel) {
    unsigned char v;
    crunner_choose(channel, &v, 1);
    return v;
}

STUB unsigned crunner_choose_u32(const char *channel) {
    unsigned v;
    crunner_choose(channel, &v, sizeof v);
    return v;
}

STUB unsigned long long crunner_choose_u64(const char *channel) {
    unsigned long long v;
    crunner_choose(channel, &v, sizeof v);
    return v;
}

#define GETTER(type, name) \
    STUB type crunner_get_##name(void) { \
        type v; \
        crunner_choose(#name, &v, sizeof v); \
        return v; \
    }

GETTER(unsigned char, byte)
GETTER(char, char)
GETTER(signed char, schar)
GETTER(short, short)
GETTER(unsigned short, ushort)
GETTER(int, int)
GETTER(unsigned int, uint)
GETTER(long, long)
GETTER(unsigned long, ulong)
GETTER(long long, longlong)
GETTER(unsigned long long, ulonglong)
GETTER(size_t, size)
GETTER(float, float)
GETTER(double, double)

STUB bool crunner_get_bool(void) { return crunner_choose_byte("bool") & 1; }

STUB void crunner_get_bytes(void *into, size_t n) { crunner_choose("bytes", into, n); }

STUB void *crunner_get_rest(size_t *size) {
    size_t n = crunner_remaining("bytes");
    void *rest = malloc(n);
    /* As for libFuzzer's data: a run without memory for its input does not count. */
    crunner_assume(rest != 0);
    *size = n;
    crunner_choose("bytes", rest, n);
    return rest;
}

STUB void *crunner_get_elements(size_t element, size_t *count) {
    size_t n = element ? crunner_remaining("bytes") / element : 0;
    void *rest = malloc(n * element);
    crunner_assume(rest != 0);
    *count = n;
    crunner_choose("bytes", rest, n * element);
    return rest;
}

STUB long crunner_range(long lo, long hi) {
    if (hi <= lo) return lo;
    unsigned long span = (unsigned long)hi - (unsigned long)lo, v = 0;
    size_t bytes = 1;
    while (bytes < sizeof v && span >> (8 * bytes)) bytes++;
    crunner_choose("range", &v, bytes);
    if (span != ULONG_MAX) v %= span + 1;
    return (long)((unsigned long)lo + v);
}

STUB size_t crunner_size(size_t least, size_t most) {
    (void)crunner_assumed("sizes");
    return (size_t)crunner_range((long)least, (long)most);
}

STUB void crunner_guessed(void) { (void)crunner_assumed("guesses"); }

STUB int crunner_stream_byte(const char *channel) {
    unsigned char c;
    if (!crunner_remaining(channel)) return -1;
    crunner_choose(channel, &c, 1);
    if (c != 0xFF) return c;
    crunner_choose(channel, &c, 1);
    return c ? 0xFF : -1;
}

STUB size_t crunner_read_string(const char *channel, char *into, size_t capacity) {
    size_t n = 0;
    if (!capacity) return 0;
    while (n < capacity - 1) {
        int c = crunner_stream_byte(channel);
        if (c <= 0) break;
        into[n++] = (char)c;
    }
    into[n] = 0;
    return n;
}

STUB size_t crunner_get_string(char *into, size_t capacity) {
    return crunner_read_string("string", into, capacity);
}

/* The block has exactly the string's size, so that reads past its end are detected. The string is
 * collected on the stack instead of in a growing block, because proofs about a block whose address
 * changes in each iteration are harder. */
STUB char *crunner_choose_string(const char *channel) {
    char text[LONGEST_ARGUMENT];
    size_t n = crunner_read_string(channel, text, sizeof text);
    char *exact = malloc(n + 1);
    if (exact) memcpy(exact, text, n + 1);
    return exact;
}

STUB char *crunner_new_string(void) { return crunner_choose_string("string"); }

STUB char *crunner_channel(const char *prefix, const char *name) {
    size_t a = strlen(prefix), b = strlen(name);
    char *channel = malloc(a + b + 1);
    if (!channel) return 0;
    memcpy(channel, prefix, a);
    memcpy(channel + a, name, b + 1);
    return channel;
}

_Noreturn STUB void crunner_fail_at(const char *message, const char *file, unsigned line) {
    crunner_violation(VIOLATES_FAIL, message, file, line);
}

_Noreturn STUB void crunner_fail(const char *message) {
    crunner_violation(VIOLATES_FAIL, message, 0, 0);
}
