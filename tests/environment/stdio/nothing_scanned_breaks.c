// world: breaks
// property: memory
// native: alone
// why: without input the number stays what it was
#include <stdio.h>
static int table[10];
int main(void)
{
    int i = 10;
    scanf("%d", &i);
    return i >= 0 && i <= 10 ? table[i] : 0;
}
