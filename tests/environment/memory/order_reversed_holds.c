// world: holds
// property: assertion
// native: alone
// why: an element's address lies in the array
#include <assert.h>
#include <stdint.h>
int main(void)
{
    int first[4] = {1};
    assert((uintptr_t)first <= (uintptr_t)&first[2] && (uintptr_t)&first[2] < (uintptr_t)(first + 4));
    return 0;
}
