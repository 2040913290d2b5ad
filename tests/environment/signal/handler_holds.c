// world: holds
// property: assertion
// native: wrap getchar
// why: the handler writes something else
#include <assert.h>
#include <signal.h>
#include <stdio.h>
static volatile sig_atomic_t hit;
static int own;
static void note(int s) { hit = 1; }
int main(void)
{
    if (signal(SIGUSR1, note) == SIG_ERR)
        return 0;
    own = 0;
    getchar();
    assert(own == 0);
    return 0;
}
