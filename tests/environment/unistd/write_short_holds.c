// world: holds
// property: assertion
// native: wrap write
// why: never more
#include <assert.h>
#include <unistd.h>
int main(void)
{
    long n = write(1, "abc", 3);
    assert(n >= -1 && n <= 3);
    return 0;
}
