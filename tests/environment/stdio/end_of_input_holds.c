// world: holds
// property: memory
// native: alone
// why: asked for
#include <stdio.h>
static int counts[256];
int main(void)
{
    int c = getchar();
    return c == EOF ? 0 : counts[c];
}
