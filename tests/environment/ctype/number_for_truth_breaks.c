// world: breaks
// property: assertion
// native: alone
// why: true is any number but 0
#include <assert.h>
#include <ctype.h>
int main(void)
{
    assert(isdigit('5') == 1);
    return 0;
}
