/* A number that stays between two bounds. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    unsigned turns = any() & 0xffff;
    int room = 64;
    for (unsigned i = 0; i < turns; i++) {
        if (room > 0 && any() % 2)
            room--;
        else if (room < 64)
            room++;
    }
    assert(room >= 0 && room <= 64);
    return 0;
}
