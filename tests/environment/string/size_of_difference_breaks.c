// world: breaks
// property: assertion
// native: wrap memcmp
// why: nor is the value of memcmp's
#include <assert.h>
#include <string.h>
int main(void)
{
    unsigned char a[2] = {1, 9}, b[2] = {1, 4};
    int difference = memcmp(a, b, 2);
    assert(difference == 1 || difference == 5);
    return 0;
}
