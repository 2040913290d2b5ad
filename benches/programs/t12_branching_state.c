/* Two variables for one thing. */
#include <assert.h>

unsigned __VERIFIER_nondet_uint(void);
#define any() __VERIFIER_nondet_uint()

int main(void)
{
    int open = 0, depth = 0;
    for (int i = 0; i < 300; i++) {
        if (open) {
            open = 0;
            depth--;
        } else if (any() % 2) {
            open = 1;
            depth++;
        }
    }
    assert(depth == open);
    return 0;
}
