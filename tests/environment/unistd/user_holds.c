// world: holds
// property: assertion
// native: wrap getuid
// why: the number is 0 or not
#include <assert.h>
#include <unistd.h>
int main(void)
{
    unsigned id = getuid();
    assert(id == 0 || id > 0);
    return 0;
}
