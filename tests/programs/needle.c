/* One pair of numbers in 2^64 leads to the assertion. */
#include <assert.h>

extern int __VERIFIER_nondet_int(void);

int main(void)
{
    unsigned a = (unsigned)__VERIFIER_nondet_int();
    unsigned b = (unsigned)__VERIFIER_nondet_int();

    if (a * 2654435761u == 0x5eed1234u && (b ^ a >> 7) + 17u == 0xc0ffee00u) {
#ifndef FIXED
        assert(a == b); /* here */
#endif
    }
    return 0;
}
