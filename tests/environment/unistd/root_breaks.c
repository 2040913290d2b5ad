// world: breaks
// property: assertion
// native: wrap getuid
// assumption: identity
// why: the user may be root
#include <assert.h>
#include <unistd.h>
int main(void)
{
    assert(getuid() != 0);
    return 0;
}
