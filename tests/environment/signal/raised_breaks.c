// world: breaks
// property: assertion
// native: alone
// why: raise calls the handler
#include <assert.h>
#include <signal.h>
static volatile sig_atomic_t hit;
static void note(int s) { hit = 1; }
int main(void)
{
    if (signal(SIGUSR1, note) == SIG_ERR)
        return 0;
    raise(SIGUSR1);
    assert(!hit);
    return 0;
}
