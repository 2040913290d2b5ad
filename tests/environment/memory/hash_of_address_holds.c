// world: holds
// property: memory
// native: alone
// why: the table has room for all eight
#include <stdint.h>
static struct {
    long pad[2];
} objects[8];
static int table[8];
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += table[(uintptr_t)&objects[i] >> 4 & 7];
    return sum;
}
