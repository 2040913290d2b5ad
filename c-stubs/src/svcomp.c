/* The conventions of SV-COMP and Test-Comp programs. These functions keep their names, since the
 * names cannot refer to the C library. The channel is the function's name. */
#include "stub.h"

#define NONDET(type, name) \
    STUB type __VERIFIER_nondet_##name(void) { \
        type v; \
        crunner_choose("__VERIFIER_nondet_" #name, &v, sizeof v); \
        return v; \
    }

NONDET(char, char)
NONDET(signed char, schar)
NONDET(unsigned char, uchar)
NONDET(unsigned char, unsigned_char)
NONDET(short, short)
NONDET(unsigned short, ushort)
NONDET(int, int)
NONDET(unsigned int, uint)
NONDET(unsigned int, unsigned)
NONDET(long, long)
NONDET(unsigned long, ulong)
NONDET(long long, longlong)
NONDET(unsigned long long, ulonglong)
NONDET(__int128, int128)
NONDET(unsigned __int128, uint128)
NONDET(float, float)
NONDET(double, double)
NONDET(size_t, size_t)
NONDET(long, loff_t)
NONDET(long, off_t)
NONDET(long, ssize_t)
NONDET(unsigned int, sector_t)
NONDET(unsigned int, pthread_t)
NONDET(uint8_t, u8)
NONDET(uint16_t, u16)
NONDET(uint32_t, u32)
NONDET(uint64_t, u64)
NONDET(int8_t, s8)
NONDET(int16_t, s16)
NONDET(int32_t, s32)
NONDET(int64_t, s64)

STUB _Bool __VERIFIER_nondet_bool(void) {
    return crunner_choose_byte("__VERIFIER_nondet_bool") & 1;
}
STUB _Bool __VERIFIER_nondet__Bool(void) {
    return crunner_choose_byte("__VERIFIER_nondet__Bool") & 1;
}

void *crunner_mock_pointer(const char *channel, size_t pointee, int raw_allowed);

STUB void *__VERIFIER_nondet_pointer(void) {
    return crunner_mock_pointer("__VERIFIER_nondet_pointer", 0, 0);
}
STUB char *__VERIFIER_nondet_pchar(void) {
    return crunner_mock_pointer("__VERIFIER_nondet_pchar", 0, 0);
}

STUB void __VERIFIER_nondet_memory(void *into, size_t n) {
    crunner_choose("__VERIFIER_nondet_memory", into, n);
}

STUB void __VERIFIER_assume(int condition) { crunner_assume(condition); }
STUB void __VERIFIER_assert(int condition) {
    if (!condition) crunner_violation(VIOLATES_ASSERTION, "__VERIFIER_assert", 0, 0);
}
STUB void assume_abort_if_not(int condition) { crunner_assume(condition); }
/* Atomic sections have no effect in a single thread. */
STUB void __VERIFIER_atomic_begin(void) {}
STUB void __VERIFIER_atomic_end(void) {}

_Noreturn STUB void reach_error(void) {
    crunner_violation(VIOLATES_REACH_ERROR, "reach_error", 0, 0);
}
_Noreturn STUB void __VERIFIER_error(void) {
    crunner_violation(VIOLATES_REACH_ERROR, "__VERIFIER_error", 0, 0);
}
