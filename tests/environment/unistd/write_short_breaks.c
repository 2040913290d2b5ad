// world: breaks
// property: assertion
// native: wrap write
// assumption: io
// why: a pipe that is nearly full takes less
#include <assert.h>
#include <unistd.h>
int main(void)
{
    long n = write(1, "abc", 3);
    assert(n == 3 || n == -1);
    return 0;
}
