// world: holds
// property: assertion
// native: wrap sleep
// why: what is left is not more than was asked for
#include <assert.h>
#include <unistd.h>
int main(void)
{
    assert(sleep(2) <= 2);
    return 0;
}
