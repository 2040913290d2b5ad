// world: holds
// property: assertion
// native: wrap poll
// why: one descriptor is at most one
#include <assert.h>
#include <poll.h>
int main(void)
{
    struct pollfd p = {0, POLLIN, 0};
    assert(poll(&p, 1, 0) <= 1);
    return 0;
}
