// world: breaks
// property: assertion
// native: ext
// assumption: io files
// why: standard input may be closed
#include <assert.h>
#include <fcntl.h>
int main(void)
{
    assert(fcntl(0, F_GETFD) >= 0);
    return 0;
}
