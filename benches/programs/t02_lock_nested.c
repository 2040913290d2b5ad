/* The same, where taking it twice is wrong as well, with a branch inside the branch. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    int held = 0;
    unsigned seen, requests = any(), late = 0;
    do {
        assert(!held);
        held = 1;
        seen = requests;
        if (any() % 3) {
            held = 0;
            requests++;
            if (any() > 9)
                late++;
        }
    } while (seen != requests);
    assert(held);
    return 0;
}
