/* A state machine that asks for events for ever: its run ends at the same question in the machine and natively. */
#include <crunner.h>
#include <stdio.h>

int main(void)
{
    unsigned long turns = 0;
    unsigned state = 1;
    for (;;) {
        unsigned char event = crunner_get_uchar();
        state = state * 31 + event;
        turns++;
        if (turns % 1000 == 0 || turns > 16380)
            printf("%lu %u\n", turns, state);
        if (turns % 3 == 0 && crunner_range(0, 1))
            turns++;
    }
}
