// world: breaks
// property: assertion
// native: ext
// why: any function of another file may set errno
#include <assert.h>
#include <errno.h>
void step(void);
int main(void)
{
    errno = 0;
    step();
    assert(errno == 0);
    return 0;
}
