/* A packet that is sealed with a CRC: nothing behind the seal is reached by chance, and no byte of the packet can be
   changed alone. */
#include <stdint.h>
#include <stdio.h>

#define SIZE 24

static uint32_t le(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t seal(const uint8_t *bytes, unsigned size)
{
    uint32_t crc = 0xffffffffu;
    for (unsigned i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
    }
    return ~crc;
}

int main(void)
{
    uint8_t packet[SIZE];
    int slots[12] = {0};

    if (fread(packet, 1, SIZE, stdin) != SIZE)
        return 1;
    if (packet[0] != 'S' || packet[1] != 'L')
        return 1;
    if (seal(packet, SIZE - 4) != le(packet + SIZE - 4))
        return 1;
    uint8_t slot = packet[7];
#ifdef FIXED
    if (slot >= 12)
        return 1;
#else
    if (slot > 12)
        return 1;
#endif
    slots[slot]++; /* here */
    return slots[0];
}
