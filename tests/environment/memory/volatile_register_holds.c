// world: holds
// property: assertion
// native: alone
// why: no volatile object
#include <assert.h>
static unsigned status;
int main(void)
{
    status = 1;
    assert(status == 1);
    return 0;
}
