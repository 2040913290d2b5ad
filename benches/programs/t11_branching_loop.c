/* Each turn adds to one of two sums. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    int i, left = 0, right = 0;
    for (i = 0; i < 500; i++) {
        if (any() % 2)
            left++;
        else
            right++;
    }
    assert(left + right == 500);
    return 0;
}
