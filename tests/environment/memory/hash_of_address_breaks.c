// world: breaks
// property: memory
// native: alone
// assumption: addresses
// why: a place in the table that is computed from an address is any of eight
#include <stdint.h>
static struct {
    long pad[2];
} objects[8];
static int table[7];
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += table[(uintptr_t)&objects[i] >> 4 & 7];
    return sum;
}
