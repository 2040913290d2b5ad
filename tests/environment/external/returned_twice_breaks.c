// world: breaks
// property: assertion
// native: ext
// why: two calls may return one object
#include <assert.h>
int *slot(int n);
int main(void)
{
    int *a = slot(1), *b = slot(2);
    if (!a || !b)
        return 0;
    *a = 1;
    *b = 2;
    assert(*a == 1);
    return 0;
}
