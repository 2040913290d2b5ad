// world: breaks
// property: memory
// native: alone
// why: EOF is negative
#include <stdio.h>
static int counts[256];
int main(void)
{
    return counts[getchar()];
}
