// world: holds
// property: memory
// native: wrap setenv
// why: its result is looked at
#include <stdlib.h>
int main(void)
{
    if (setenv("PAIRS_LEVEL", "3", 1) != 0)
        return 1;
    return getenv("PAIRS_LEVEL")[0];
}
