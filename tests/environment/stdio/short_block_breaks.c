// world: breaks
// property: memory
// native: alone
// why: fread may deliver less than was asked for
#include <stdio.h>
static int table[4];
int main(void)
{
    unsigned char block[4] = {0, 0, 0, 9};
    size_t n = fread(block, 1, 4, stdin);
    if (n == 4)
        block[3] &= 3;
    return table[block[3]];
}
