/* The address of a device's registers comes as a number. Who followed such a number without being told that it is an
 * address would read anywhere; who is told (`address_of`) finds the fault behind it. */
#include <stdint.h>

struct registers {
    uint32_t status;
    uint32_t channel;
};

unsigned long device_base(void);

static int uses[4];

int main(void)
{
    struct registers *device = (struct registers *)device_base();

    if (!device || !(device->status & 4)) /* followed */
        return 0;
#ifdef FIXED
    if (device->channel > 3)
        return 0;
#endif
    uses[device->channel]++; /* here */
    return 0;
}
