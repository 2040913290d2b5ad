// world: holds
// property: assertion
// native: wrap getuid
// why: nothing changes it between the calls
#include <assert.h>
#include <unistd.h>
int main(void)
{
    assert(getuid() == getuid());
    return 0;
}
