// world: holds
// property: assertion
// native: wrap fork
// why: what the child writes is its own
#include <assert.h>
#include <unistd.h>
static int x;
int main(void)
{
    int pid = fork();
    if (pid == 0) {
        x = 1;
        _exit(0);
    }
    assert(x == 0);
    return 0;
}
