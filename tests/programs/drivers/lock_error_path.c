/* An error path leaves with the lock held; the next transfer takes it again. */
#include <assert.h>

extern int bus_ready(int port);
extern int bus_write(int port, unsigned value);

static int held;

static void lock(void)
{
    assert(!held); /* here */
    held = 1;
}

static void unlock(void)
{
    assert(held);
    held = 0;
}

static int transfer(int port, unsigned value)
{
    int result;

    lock();
    if (!bus_ready(port)) {
#ifdef FIXED
        unlock();
#endif
        return -16;
    }
    result = bus_write(port, value);
    unlock();
    return result;
}

int main(void)
{
    if (transfer(0, 0x40) < 0)
        return transfer(1, 0x40);
    return 0;
}
