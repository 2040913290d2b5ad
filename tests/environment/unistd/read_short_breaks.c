// world: breaks
// property: assertion
// native: wrap read
// assumption: io
// why: three of four bytes may come
#include <assert.h>
#include <unistd.h>
int main(void)
{
    unsigned value = 0;
    long n = read(0, &value, sizeof value);
    assert(n <= 0 || n == sizeof value);
    return 0;
}
