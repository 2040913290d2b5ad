/* The timer may fire at once, before the driver is ready for it. */
#include <assert.h>

extern int timer_start(unsigned delay, void (*fire)(void *context), void *context);

struct device {
    int ready;
    int ticks;
};

static void tick(void *context)
{
    struct device *device = context;

#ifdef FIXED
    if (!device->ready)
        return;
#endif
    assert(device->ready); /* here */
    device->ticks++;
}

int main(void)
{
    struct device device = {0, 0};

    if (timer_start(10, tick, &device) < 0)
        return 1;
    device.ready = 1;
    return device.ticks;
}
