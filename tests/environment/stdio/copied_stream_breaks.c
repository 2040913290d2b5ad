// world: breaks
// property: memory
// native: alone
// why: and no larger
#include <stdio.h>
int main(void)
{
    FILE copy = *stdout;
    volatile unsigned char *bytes = (volatile unsigned char *)&copy;
    return bytes[sizeof copy] & 0;
}
