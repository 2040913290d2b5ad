// world: holds
// property: assertion
// native: alone
// why: malloc's blocks are aligned for every type, and this one is declared so
#include <assert.h>
#include <stdint.h>
int main(void)
{
    _Alignas(16) int i = 1;
    assert(((uintptr_t)&i & 15) == 0);
    return i & 0;
}
