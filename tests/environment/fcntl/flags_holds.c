// world: holds
// property: assertion
// native: ext
// why: -1 is its only negative answer
#include <assert.h>
#include <fcntl.h>
int main(void)
{
    assert(fcntl(0, F_GETFD) >= -1);
    return 0;
}
