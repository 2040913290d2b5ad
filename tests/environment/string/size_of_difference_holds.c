// world: holds
// property: assertion
// native: wrap memcmp
// why: both signs
#include <assert.h>
#include <string.h>
int main(void)
{
    unsigned char a[2] = {1, 9}, b[2] = {1, 4};
    assert(memcmp(a, b, 2) > 0 && memcmp(b, a, 2) < 0 && memcmp(a, a, 2) == 0);
    return 0;
}
