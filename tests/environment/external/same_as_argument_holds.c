// world: holds
// property: assertion
// native: ext
// why: nobody outside has this variable's address
#include <assert.h>
int *pass(int *p);
int main(void)
{
    int x = 0, y = 1;
    int *p = pass(&x), *own = &y;
    *own = 2;
    if (p)
        *p = 3;
    assert(y == 2);
    return 0;
}
