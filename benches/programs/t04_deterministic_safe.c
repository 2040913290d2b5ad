/* What a loop counts to. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    unsigned a = any(), sum = 0;
    int i = 0;
    for (; i < 1000; i++)
        sum += a % 2;
    assert(i == 1000);
    return (int)sum;
}
