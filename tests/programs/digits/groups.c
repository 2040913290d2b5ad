// A number is written in groups of seven bits. Wrong: sixty-four bits are nine groups and one bit more.
#include <stdint.h>
#include <stdio.h>

#ifdef FIXED
#define ROOM 10
#else
#define ROOM 9
#endif

static size_t groups(uint8_t *to, uint64_t value) {
    size_t n = 0;
    while (value >= 128) {
        to[n++] = (uint8_t)(value | 128);
        value >>= 7;
    }
    to[n++] = (uint8_t)value;
    return n;
}

int main(void) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | ((uint64_t)getchar() & 255);
    uint8_t bytes[ROOM];
    return (int)groups(bytes, value) & 1;
}
