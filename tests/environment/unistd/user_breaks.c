// world: breaks
// property: assertion
// native: wrap getuid
// assumption: identity
// why: the user may be anybody
#include <assert.h>
#include <unistd.h>
int main(void)
{
    assert(getuid() <= 1000);
    return 0;
}
