/* An even number stays even. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    unsigned n = 0, limit = any();
    while (n < limit && any() % 7)
        n += 2;
    assert(n % 2 == 0);
    return 0;
}
