// world: holds
// property: assertion
// native: wrap read
// why: never more than was asked for
#include <assert.h>
#include <unistd.h>
int main(void)
{
    unsigned value = 0;
    long n = read(0, &value, sizeof value);
    assert(n >= -1 && n <= (long)sizeof value);
    return 0;
}
