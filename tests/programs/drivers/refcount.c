/* Two lookups may give the same device; one reference is then given back twice. */
#include <assert.h>

struct device {
    unsigned id;
    int references;
};

extern struct device *device_lookup(const char *name);

static void get(struct device *device)
{
    device->references++;
}

static void put(struct device *device)
{
    assert(device->references > 0); /* here */
    device->references--;
}

int main(void)
{
    struct device *device = device_lookup("eth0");

    if (!device)
        return 1;
    device->references = 0;
    get(device);
    if (device->id == 7) {
        put(device);
#ifdef FIXED
        return 2;
#endif
    }
    put(device);
    return 0;
}
