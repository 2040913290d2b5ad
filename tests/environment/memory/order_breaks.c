// world: breaks
// property: assertion
// native: alone
// assumption: addresses
// why: which of two variables lies first is not known
#include <assert.h>
#include <stdint.h>
static int early = 1;
int main(void)
{
    int late = 1;
    assert((uintptr_t)&early > (uintptr_t)&late);
    return late & 0;
}
