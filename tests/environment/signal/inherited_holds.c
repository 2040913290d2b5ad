// world: holds
// property: assertion
// native: ext
// why: the second answer is what the first call set
#include <assert.h>
#include <signal.h>
static void note(int s) {}
int main(void)
{
    if (signal(SIGINT, note) == SIG_ERR)
        return 0;
    assert(signal(SIGINT, SIG_IGN) == note);
    return 0;
}
