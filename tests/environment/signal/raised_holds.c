// world: holds
// property: assertion
// native: alone
// why: before it returns, for a signal that is not blocked
#include <assert.h>
#include <signal.h>
static volatile sig_atomic_t hit;
static void note(int s) { hit = 1; }
int main(void)
{
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, 0) != 0 || signal(SIGUSR1, note) == SIG_ERR)
        return 0;
    if (raise(SIGUSR1) == 0)
        assert(hit);
    return 0;
}
