/* <string.h>: functions on blocks. Copies and fills become LLVM's intrinsics, which the machine
 * executes in one step. */
#include "engine.h"

void *NAME(memcpy)(void *restrict to, const void *restrict from, size_t n) {
    return __builtin_memcpy(to, from, n);
}
void *NAME(memmove)(void *to, const void *from, size_t n) { return __builtin_memmove(to, from, n); }
void *NAME(memset)(void *to, int byte, size_t n) { return __builtin_memset(to, byte, n); }

void *NAME(mempcpy)(void *restrict to, const void *restrict from, size_t n) {
    __builtin_memcpy(to, from, n);
    return (char *)to + n;
}
void NAME(bzero)(void *to, size_t n) { __builtin_memset(to, 0, n); }
void NAME(explicit_bzero)(void *to, size_t n) { __builtin_memset(to, 0, n); }
void NAME(bcopy)(const void *from, void *to, size_t n) { __builtin_memmove(to, from, n); }

/* Both blocks must have n readable bytes wherever they differ, since the library may read any of
 * them. */
int NAME(memcmp)(const void *a, const void *b, size_t n) {
    const unsigned char *x = a, *y = b;
    if (n == 0) return 0;
    int last = x[n - 1] - y[n - 1];
    for (size_t i = 0; i < n - 1; i++)
        if (x[i] != y[i]) return engine_of_sign(x[i] - y[i]);
    return engine_of_sign(last);
}
int NAME(bcmp)(const void *a, const void *b, size_t n) { return NAME(memcmp)(a, b, n); }

void *NAME(memchr)(const void *in, int c, size_t n) {
    const unsigned char *x = in;
    for (size_t i = 0; i < n; i++)
        if (x[i] == (unsigned char)c) return (void *)(x + i);
    return 0;
}

void *NAME(memrchr)(const void *in, int c, size_t n) {
    const unsigned char *x = in;
    while (n-- > 0)
        if (x[n] == (unsigned char)c) return (void *)(x + n);
    return 0;
}

void *NAME(rawmemchr)(const void *in, int c) {
    const unsigned char *x = in;
    while (*x != (unsigned char)c) x++;
    return (void *)x;
}

void *NAME(memccpy)(void *restrict to, const void *restrict from, int c, size_t n) {
    unsigned char *t = to;
    const unsigned char *f = from;
    for (size_t i = 0; i < n; i++)
        if ((t[i] = f[i]) == (unsigned char)c) return t + i + 1;
    return 0;
}

void *NAME(memmem)(const void *in, size_t n, const void *wanted, size_t m) {
    const unsigned char *x = in;
    for (size_t i = 0; m <= n && i <= n - m; i++)
        if (NAME(memcmp)(x + i, wanted, m) == 0) return (void *)(x + i);
    return 0;
}

void NAME(swab)(const void *restrict from, void *restrict to, ptrdiff_t n) {
    const char *f = from;
    char *t = to;
    for (; n > 1; n -= 2, f += 2, t += 2) {
        char a = f[0];
        t[0] = f[1];
        t[1] = a;
    }
}

/* What _FORTIFY_SOURCE calls instead of the functions above. */
static void fits(size_t needed, size_t room) {
    if (needed > room) crunner_violation(1, "buffer overflow detected", 0, 0);
}
void *NAME(__memcpy_chk)(void *restrict to, const void *restrict from, size_t n, size_t room) {
    fits(n, room);
    return __builtin_memcpy(to, from, n);
}
void *NAME(__memmove_chk)(void *to, const void *from, size_t n, size_t room) {
    fits(n, room);
    return __builtin_memmove(to, from, n);
}
void *NAME(__mempcpy_chk)(void *restrict to, const void *restrict from, size_t n, size_t room) {
    fits(n, room);
    return NAME(mempcpy)(to, from, n);
}
void *NAME(__memset_chk)(void *to, int byte, size_t n, size_t room) {
    fits(n, room);
    return __builtin_memset(to, byte, n);
}
