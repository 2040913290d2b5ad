// world: holds
// property: assertion
// native: ext
// why: the second answer is what the first call set
#include <assert.h>
#include <sys/stat.h>
int main(void)
{
    umask(027);
    assert(umask(0) == 027);
    return 0;
}
