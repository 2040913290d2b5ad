// world: breaks
// property: assertion
// native: alone
// why: SIGCHLD is ignored unless somebody says otherwise
#include <assert.h>
#include <signal.h>
int main(void)
{
    raise(SIGCHLD);
    assert(0);
    return 0;
}
