// world: breaks
// property: assertion
// native: alone
// assumption: addresses
// why: a character may lie at an odd address
#include <assert.h>
#include <stdint.h>
int main(void)
{
    char c = 1;
    assert(((uintptr_t)&c & 1) == 0);
    return c & 0;
}
