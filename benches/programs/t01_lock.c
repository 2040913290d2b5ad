/* A lock that is released when a request has come in, and held when none has. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    int held = 0;
    unsigned seen, requests = any();
    do {
        held = 1;
        seen = requests;
        if (any() % 2) {
            held = 0;
            requests++;
        }
    } while (seen != requests);
    assert(held);
    return 0;
}
