// world: breaks
// property: assertion
// native: alone
// assumption: addresses
// why: nor does it follow the order of the declarations
#include <assert.h>
#include <stdint.h>
int main(void)
{
    int first[4] = {1};
    static int second[4];
    assert((uintptr_t)first < (uintptr_t)second);
    return 0;
}
