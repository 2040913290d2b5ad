// world: holds
// property: assertion
// native: alone
// why: arrays that are initialised with them are two
#include <assert.h>
static const char a[] = "same", b[] = "same";
int main(void)
{
    const char *p = a, *q = b;
    assert(p != q);
    return 0;
}
