// world: breaks
// property: assertion
// native: wrap poll
// why: there may be something to read
#include <assert.h>
#include <poll.h>
int main(void)
{
    struct pollfd p = {0, POLLIN, 0};
    assert(poll(&p, 1, 0) <= 0);
    return 0;
}
