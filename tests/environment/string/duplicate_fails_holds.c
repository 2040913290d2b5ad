// world: holds
// property: memory
// native: wrap strdup
// options: --faults alloc
// why: checked
#include <string.h>
#include <stdlib.h>
int main(void)
{
    char *copy = strdup("text");
    int c = copy ? copy[0] : 0;
    free(copy);
    return c;
}
