// world: holds
// property: assertion
// native: alone
// why: the same seed begins the same sequence
#include <assert.h>
#include <stdlib.h>
int main(void)
{
    int a, b;
    srand(7);
    a = rand();
    srand(7);
    b = rand();
    assert(a == b);
    return 0;
}
