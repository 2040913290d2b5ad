/* The bus may return the device that it returned before; the driver closes each of "both" devices. */
#include <assert.h>

struct device {
    int open;
};

extern struct device *bus_open(int port);

static void close_device(struct device *device)
{
    assert(device->open); /* here */
    device->open = 0;
}

int main(void)
{
    struct device *left = bus_open(0), *right = bus_open(1);

    if (!left || !right)
        return 1;
    left->open = right->open = 1;
    close_device(left);
#ifdef FIXED
    if (left == right)
        return 2;
#endif
    close_device(right);
    return 0;
}
