/* A table that is computed, and a sum over some thousand bytes with it. */
#include <stdint.h>
void reach_error(void);

static uint32_t table[256];

static void fill(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        table[i] = c;
    }
}

static uint32_t sum(const unsigned char *bytes, unsigned length)
{
    uint32_t c = 0xffffffffu;
    while (length--)
        c = table[(c ^ *bytes++) & 255] ^ (c >> 8);
    return ~c;
}

int main(void)
{
    static unsigned char bytes[5000];
    fill();
    if (sum((const unsigned char *)"123456789", 9) != 0xcbf43926u)
        reach_error();
    uint32_t last = 0;
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * i >> 3);
        if (i % 500 == 0)
            last ^= sum(bytes, i);
    }
#ifdef FIXED
    if (last == 0)
#else
    if (last != 0)
#endif
        reach_error();
    return 0;
}
