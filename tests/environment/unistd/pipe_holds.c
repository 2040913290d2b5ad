// world: holds
// property: assertion
// native: alone
// why: then its ends are different descriptors
#include <assert.h>
#include <unistd.h>
int main(void)
{
    int ends[2];
    if (pipe(ends) == 0)
        assert(ends[0] >= 0 && ends[1] >= 0 && ends[0] != ends[1]);
    return 0;
}
