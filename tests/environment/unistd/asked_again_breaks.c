// world: breaks
// property: assertion
// native: wrap access
// assumption: files
// why: between two questions a file may disappear
#include <assert.h>
#include <unistd.h>
int main(void)
{
    if (access("pairs.lock", F_OK) == 0)
        assert(access("pairs.lock", F_OK) == 0);
    return 0;
}
