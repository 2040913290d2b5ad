/* The same, by adding nothing. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    int x = 0, y = 0;
    while (y >= 0)
        y += x;
    assert(0);
    return 0;
}
