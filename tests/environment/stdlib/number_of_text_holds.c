// world: holds
// property: memory
// native: ext
// why: the range is checked
#include <stdlib.h>
static int table[10];
int main(void)
{
    const char *text = getenv("PAIRS_INDEX");
    long i = text ? strtol(text, 0, 10) : 0;
    return i >= 0 && i < 10 ? table[i] : 0;
}
