// world: holds
// property: assertion
// native: alone
// why: with the default disposition it ends the process
#include <assert.h>
#include <signal.h>
int main(void)
{
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, 0) != 0 || signal(SIGTERM, SIG_DFL) == SIG_ERR)
        return 0;
    if (raise(SIGTERM) == 0)
        assert(0);
    return 0;
}
