// world: holds
// property: memory
// native: alone
// why: checked; nothing changes the environment between the two calls
#include <stdlib.h>
int main(void)
{
    return getenv("PAIRS_COLOUR") ? getenv("PAIRS_COLOUR")[0] : 0;
}
