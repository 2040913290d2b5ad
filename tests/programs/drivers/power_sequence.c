/* Suspend fails half-way and leaves the device off; a write then goes to a device without power. */
#include <assert.h>

extern int regulator_disable(void);
extern int firmware_save(unsigned char *image, unsigned long size);

static int powered = 1;
static unsigned char image[8];

static void write_register(void)
{
    assert(powered); /* here */
}

static int suspend(void)
{
    if (regulator_disable() < 0)
        return -5;
    powered = 0;
    if (firmware_save(image, sizeof image) < 0) {
#ifdef FIXED
        powered = 1;
#endif
        return -5;
    }
    return 0;
}

int main(void)
{
    if (suspend() < 0 || image[0] == 0x7f) {
#ifdef FIXED
        if (!powered)
            return 1;
#endif
        write_register();
    }
    return 0;
}
