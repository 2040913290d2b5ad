// world: holds
// property: memory
// native: alone
// why: a stream is as large as the header says
#include <stdio.h>
int main(void)
{
    FILE copy = *stdout;
    volatile unsigned char *bytes = (volatile unsigned char *)&copy;
    return bytes[sizeof copy - 1] & 0;
}
