/* Closing twice is possible: an event out of order takes the machine where it must not be. */
#include <assert.h>

extern unsigned next_event(void);

enum state { CLOSED, OPEN, CLOSING };

int main(void)
{
    enum state state = CLOSED;
    int users = 0;
    int i;

    for (i = 0; i < 4; i++) {
        switch (next_event()) {
        case 1:
            if (state == CLOSED) {
                state = OPEN;
                users++;
            }
            break;
        case 2:
            if (state == OPEN)
                state = CLOSING;
            break;
        case 3:
#ifdef FIXED
            if (state != CLOSING)
                break;
#else
            if (state == CLOSED)
                break;
#endif
            state = CLOSED;
            users--;
            break;
        case 4:
            if (state == CLOSING) {
                state = CLOSED;
#ifndef FIXED
                users -= 2;
#else
                users--;
#endif
            }
            break;
        }
        assert(users >= 0); /* here */
    }
    return users;
}
