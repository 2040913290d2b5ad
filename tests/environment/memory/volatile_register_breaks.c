// world: breaks
// property: assertion
// native: none (the hardware changes it)
// why: a status register that is written need not read back the same
#include <assert.h>
static volatile unsigned status;
int main(void)
{
    status = 1;
    assert(status == 1);
    return 0;
}
