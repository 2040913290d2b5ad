/* A register is read twice; the device changes it in between. */
#include <stdint.h>

extern uint16_t register_read(unsigned address);

static uint8_t fifo[16];

int main(void)
{
#ifdef FIXED
    uint16_t level = register_read(0x10);

    if (level > sizeof fifo)
        return 1;
    if (level == 0)
        return 0;
    return fifo[level - 1];
#else
    if (register_read(0x10) > sizeof fifo)
        return 1;
    if (register_read(0x10) == 0)
        return 0;
    return fifo[register_read(0x10) - 1]; /* here */
#endif
}
