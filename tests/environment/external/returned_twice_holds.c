// world: holds
// property: assertion
// native: ext
// why: one of the two objects is the program's own, and unknown outside
#include <assert.h>
int *slot(int n);
int main(void)
{
    int own;
    int *a = &own, *b = slot(2);
    if (!b)
        return 0;
    *a = 1;
    *b = 2;
    assert(*a == 1);
    return 0;
}
