/* A loop that says nothing about what is asserted behind it. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    unsigned a = any() | 1u, sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += (unsigned)i;
    assert(a != 0);
    return (int)sum;
}
