/* A name from outside is copied into a field that is shorter than names may be. */
#include <string.h>

extern const char *device_name(int minor);

struct slot {
    char name[8];
    int used;
};

static struct slot slot;

int main(void)
{
    const char *name = device_name(4);
    unsigned i;

    if (!name)
        return 1;
#ifdef FIXED
    for (i = 0; i < sizeof slot.name - 1 && name[i]; i++)
        slot.name[i] = name[i];
#else
    for (i = 0; name[i]; i++)
        slot.name[i] = name[i]; /* here */
#endif
    slot.used = 1;
    return (int)i;
}
