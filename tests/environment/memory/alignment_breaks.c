// world: breaks
// property: assertion
// native: alone
// assumption: addresses
// why: nothing aligns an int to sixteen bytes
#include <assert.h>
#include <stdint.h>
int main(void)
{
    int i = 1;
    assert(((uintptr_t)&i & 15) == 0);
    return i & 0;
}
