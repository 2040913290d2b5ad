// world: breaks
// property: memory
// native: ext
// assumption: external-frees
// why: who is given a block may free it
#include <stdlib.h>
void consume(char *block);
int main(void)
{
    char *block = malloc(16);
    if (!block)
        return 0;
    block[0] = 0;
    consume(block);
    return block[0];
}
