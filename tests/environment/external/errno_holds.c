// world: holds
// property: assertion
// native: ext
// why: the value was saved before
#include <assert.h>
#include <errno.h>
void step(void);
int main(void)
{
    int before;
    errno = 0;
    before = errno;
    step();
    assert(before == 0);
    return 0;
}
