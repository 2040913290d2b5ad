// world: holds
// property: assertion
// native: alone
// why: SIGKILL can be neither ignored nor blocked
#include <assert.h>
#include <signal.h>
int main(void)
{
    if (raise(SIGKILL) == 0)
        assert(0);
    return 0;
}
