// world: breaks
// property: assertion
// native: alone
// why: a process can be made
#include <assert.h>
#include <unistd.h>
int main(void)
{
    int pid = fork();
    assert(pid <= 0);
    return 0;
}
