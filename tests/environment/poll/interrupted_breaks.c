// world: breaks
// property: assertion
// native: wrap poll
// why: a signal ends the wait
#include <assert.h>
#include <poll.h>
int main(void)
{
    struct pollfd p = {0, POLLIN, 0};
    assert(poll(&p, 1, 10) >= 0);
    return 0;
}
