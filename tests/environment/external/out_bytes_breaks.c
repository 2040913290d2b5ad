// world: breaks
// property: memory
// native: ext
// why: every byte of the array may come back with any value
#include <stddef.h>
void frame(unsigned char *out, size_t n);
static int table[16];
int main(void)
{
    unsigned char packet[12] = {0};
    frame(packet, sizeof packet);
    return table[packet[11]];
}
