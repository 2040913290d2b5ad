/* A ring of slots with one count of what was put and one of what was taken. */
#include <stdbool.h>
_Bool __VERIFIER_nondet_bool(void);
void reach_error(void);

#ifndef SLOTS
#define SLOTS 1024
#endif

static int slots[SLOTS];

int main(void) {
    unsigned head = 0, used = 0;
    for (;;) {
        if (__VERIFIER_nondet_bool()) {
#ifdef FIXED
            if (used == SLOTS)
                continue;
#endif
            slots[(head + used) % SLOTS] = 1;
            used++;
        } else {
            if (used == 0)
                break;
            head = (head + 1) % SLOTS;
            used--;
        }
        if (used > SLOTS)
            reach_error();
    }
    return 0;
}
