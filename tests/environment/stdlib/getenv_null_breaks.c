// world: breaks
// property: memory
// native: alone
// why: the variable may not be set
#include <stdlib.h>
int main(void)
{
    return getenv("PAIRS_COLOUR")[0];
}
