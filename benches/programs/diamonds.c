/* N branches in a row that join again: two to the power of N paths. FAULTY, one of them is wrong. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define STEP(i) if (__VERIFIER_nondet_uint() % 2) x += i; else x -= i + 1;
#define STEPS8(i) STEP(i) STEP(i + 1) STEP(i + 2) STEP(i + 3) STEP(i + 4) STEP(i + 5) STEP(i + 6) STEP(i + 7)
#define STEPS16(i) STEPS8(i) STEPS8(i + 8)
#define STEPS32(i) STEPS16(i) STEPS16(i + 16)

int main(void)
{
    int held = 1, x = 0;
#if N == 8
    STEPS8(0)
#elif N == 16
    STEPS16(0)
#elif N == 32
    STEPS32(0)
#else
    STEPS32(0) STEPS32(32)
#endif
#ifdef FAULTY
    /* Reached when every branch adds. */
    held = x != N * (N - 1) / 2;
#endif
    assert(held);
    return 0;
}
