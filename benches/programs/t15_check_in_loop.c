/* The check is inside of the loop. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    int state = 0;
    for (int i = 0; i < 1000; i++) {
        assert(state <= 2);
        state = state == 2 ? 0 : state + 1;
    }
    return state;
}
