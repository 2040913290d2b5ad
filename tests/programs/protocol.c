/* A protocol of four messages. HELLO, AUTH, DATA..., BYE; a BYE that comes twice is one too many. */
#include <assert.h>
#include <stdio.h>

enum state { IDLE, GREETED, OPEN, CLOSING };

int main(void)
{
    enum state state = IDLE;
    int sessions = 0, c;

    while ((c = getchar()) != EOF) {
        switch (c) {
        case 'H':
            state = state == IDLE ? GREETED : IDLE;
            break;
        case 'A':
            if (state == GREETED) {
                state = OPEN;
                sessions++;
            }
            break;
        case 'D':
            if (state != OPEN)
                return 1;
            break;
        case 'B':
            if (state == OPEN)
                state = CLOSING;
#ifdef FIXED
            else
                break;
#else
            else if (state != CLOSING)
                break;
#endif
            assert(sessions > 0); /* here */
            sessions--;
            break;
        default:
            return 2;
        }
    }
    return 0;
}
