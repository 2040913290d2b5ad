// world: holds
// property: assertion
// native: wrap access
// why: asked once
#include <assert.h>
#include <unistd.h>
int main(void)
{
    int there = access("pairs.lock", F_OK);
    assert(there == 0 || there == -1);
    return 0;
}
