// world: breaks
// property: memory
// native: wrap strdup
// assumption: alloc
// why: strdup allocates
#include <string.h>
#include <stdlib.h>
int main(void)
{
    char *copy = strdup("text");
    int c = copy[0];
    free(copy);
    return c;
}
