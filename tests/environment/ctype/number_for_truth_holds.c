// world: holds
// property: assertion
// native: alone
// why: that it is true is all that is known
#include <assert.h>
#include <ctype.h>
int main(void)
{
    assert(isdigit('5') != 0 && isdigit('x') == 0);
    return 0;
}
