/* What is behind a loop without an end is never reached. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    unsigned x = 1, sum = 0;
    while (x != 0) {
        x = x == 7 ? 1 : x + 1;
        sum += any();
    }
    assert(0);
    return (int)sum;
}
