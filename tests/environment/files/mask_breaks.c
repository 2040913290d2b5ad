// world: breaks
// property: assertion
// native: ext
// assumption: identity
// why: the mask is what the parent set
#include <assert.h>
#include <sys/stat.h>
int main(void)
{
    assert(umask(0) == 022);
    return 0;
}
