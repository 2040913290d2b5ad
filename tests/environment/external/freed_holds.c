// world: holds
// property: memory
// native: ext
// why: nothing is touched after it was handed over
#include <stdlib.h>
void consume(char *block);
int main(void)
{
    char *block = malloc(16);
    char first;
    if (!block)
        return 0;
    block[0] = 0;
    first = block[0];
    consume(block);
    return first;
}
