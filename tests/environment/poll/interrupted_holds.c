// world: holds
// property: assertion
// native: wrap poll
// why: what is asked for stays
#include <assert.h>
#include <poll.h>
int main(void)
{
    struct pollfd p = {0, POLLIN, 0};
    poll(&p, 1, 10);
    assert(p.events == POLLIN);
    return 0;
}
