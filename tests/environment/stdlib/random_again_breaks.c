// world: breaks
// property: assertion
// native: alone
// why: the sequence goes on
#include <assert.h>
#include <stdlib.h>
int main(void)
{
    int a, b;
    srand(7);
    a = rand();
    b = rand();
    assert(a == b);
    return 0;
}
