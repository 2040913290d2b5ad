// world: breaks
// property: assertion
// native: wrap fork
// why: the child sees 0
#include <assert.h>
#include <unistd.h>
int main(void)
{
    int pid = fork();
    assert(pid != 0);
    return 0;
}
