// world: holds
// property: assertion
// native: ext
// why: it gets the value
#include <assert.h>
int old_value();
int main(void)
{
    int x = 1;
    old_value(x);
    assert(x == 1);
    return 0;
}
