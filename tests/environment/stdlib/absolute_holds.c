// world: holds
// property: assertion
// native: ext
// why: that one is left out
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
int offset(void);
int main(void)
{
    int i = offset();
    if (i == INT_MIN)
        return 0;
    assert(abs(i) >= 0);
    return 0;
}
