// world: holds
// property: memory
// native: alone
// why: asked whether there was one
#include <stdio.h>
static int table[10];
int main(void)
{
    int i = 10;
    if (scanf("%d", &i) != 1)
        return 0;
    return i >= 0 && i < 10 ? table[i] : 0;
}
