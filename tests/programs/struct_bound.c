/* An array inside a struct: the fields behind it are overwritten, no allocation is left. */
#include <stdio.h>

struct packet {
    unsigned char type;
    unsigned char slots[12];
    unsigned total;
};

int main(void)
{
    struct packet p = {0};
    int row = getchar(), column = getchar();

    if (row < 0 || row > 3 || column < 0 || column > 3)
        return 1;
#ifdef FIXED
    if (row > 2)
        return 1;
#endif
    p.slots[row * 4 + column] = 1; /* here */
    return (int)p.total;
}
