/* As many turns as the input says, and a flag that none of them touches. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    int n = (int)any(), flag = 1;
    while (n > 0)
        n--;
    assert(flag);
    return 0;
}
