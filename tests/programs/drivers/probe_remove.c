/* A probe that fails half-way frees its state; remove frees it again. */
#include <stdlib.h>

struct state {
    int irq;
    unsigned char buffer[16];
};

extern int irq_request(int line);
extern int clock_enable(void);

static struct state *state;

static int probe(void)
{
    state = malloc(sizeof *state);
    if (!state)
        return -12;
    state->irq = irq_request(5);
    if (state->irq < 0) {
        free(state);
        state = 0;
        return -19;
    }
    if (clock_enable() < 0) {
        free(state);
#ifdef FIXED
        state = 0;
#endif
        return -5;
    }
    return 0;
}

static void remove_device(void)
{
    if (state)
        free(state); /* here */
    state = 0;
}

int main(void)
{
    int result = probe();

    remove_device();
    return result;
}
