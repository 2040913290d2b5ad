// world: holds
// property: assertion
// native: alone
// why: these are the answers
#include <assert.h>
#include <unistd.h>
int main(void)
{
    int pid = fork();
    assert(pid >= -1);
    return 0;
}
