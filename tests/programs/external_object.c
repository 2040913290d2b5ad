/* A driver that nobody defines hands out an object, or none. */
struct device {
    unsigned flags;
    unsigned speed;
};

extern struct device *device_find(const char *name);

int main(void)
{
    const char *name = "eth0";
    struct device *device = device_find(name);

    if (device == 0)
        return 1;
    if ((device->flags & 0xf0u) == 0xa0u) {
#ifdef FIXED
        if (device->speed == 0)
            return 1;
#endif
        return (int)(1000u / device->speed); /* here */
    }
    return 0;
}
