// world: breaks
// property: assertion
// native: ext
// assumption: external-results
// why: the address of the argument itself may come back
#include <assert.h>
int *pass(int *p);
int main(void)
{
    int x = 0;
    assert(pass(&x) != &x);
    return 0;
}
