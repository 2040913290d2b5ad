// world: breaks
// property: assertion
// native: ext
// why: a function without a prototype gets the address all the same
#include <assert.h>
int old_style();
int main(void)
{
    int x = 1;
    old_style(&x);
    assert(x == 1);
    return 0;
}
