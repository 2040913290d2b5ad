// world: breaks
// property: memory
// native: wrap setenv
// assumption: alloc
// why: setenv fails where there is no memory
#include <stdlib.h>
int main(void)
{
    setenv("PAIRS_LEVEL", "3", 1);
    return getenv("PAIRS_LEVEL")[0];
}
