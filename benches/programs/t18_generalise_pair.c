/* Two variables that stay equal. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    unsigned a = 0, b = 0;
    while (any() % 5) {
        a += 3;
        b += 3;
    }
    assert(a == b);
    return 0;
}
