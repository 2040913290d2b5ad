// world: holds
// property: memory
// native: ext
// why: its first character is copied before
#include <stdlib.h>
void step(void);
int main(void)
{
    const char *mode = getenv("PAIRS_MODE");
    char first;
    if (!mode)
        return 0;
    first = mode[0];
    step();
    return first;
}
