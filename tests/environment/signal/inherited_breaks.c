// world: breaks
// property: assertion
// native: ext
// assumption: signals
// why: who started the program may have a signal ignored
#include <assert.h>
#include <signal.h>
static void note(int s) {}
int main(void)
{
    assert(signal(SIGINT, note) == SIG_DFL);
    return 0;
}
