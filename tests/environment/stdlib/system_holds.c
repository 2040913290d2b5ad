// world: holds
// property: memory
// native: alone
// why: either way there is an entry
#include <stdlib.h>
static int ends[2];
int main(void)
{
    return ends[system("true") != 0];
}
