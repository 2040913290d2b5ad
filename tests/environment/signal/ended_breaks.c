// world: breaks
// property: assertion
// native: alone
// why: an ignored signal ends nothing
#include <assert.h>
#include <signal.h>
int main(void)
{
    if (signal(SIGTERM, SIG_IGN) == SIG_ERR)
        return 0;
    raise(SIGTERM);
    assert(0);
    return 0;
}
