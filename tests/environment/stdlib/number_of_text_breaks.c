// world: breaks
// property: memory
// native: ext
// why: the number in the variable may be any
#include <stdlib.h>
static int table[10];
int main(void)
{
    const char *text = getenv("PAIRS_INDEX");
    return text ? table[atoi(text)] : 0;
}
