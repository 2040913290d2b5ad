// world: holds
// property: memory
// native: alone
// why: all of it, or none is used
#include <stdio.h>
static int table[4];
int main(void)
{
    unsigned char block[4] = {0, 0, 0, 9};
    if (fread(block, 1, 4, stdin) != 4)
        return 1;
    return table[block[3] & 3];
}
