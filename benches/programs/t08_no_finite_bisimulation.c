/* States that differ for ever, and need not be told apart. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    int y = (int)any(), never = 0;
    while (y > 0)
        y = y - 1;
    assert(!never);
    return 0;
}
