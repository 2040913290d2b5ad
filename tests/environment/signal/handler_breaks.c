// world: breaks
// property: assertion
// native: wrap getchar
// assumption: signals
// why: the handler may run while the program waits for input
#include <assert.h>
#include <signal.h>
#include <stdio.h>
static volatile sig_atomic_t hit;
static void note(int s) { hit = 1; }
int main(void)
{
    if (signal(SIGUSR1, note) == SIG_ERR)
        return 0;
    hit = 0;
    getchar();
    assert(hit == 0);
    return 0;
}
