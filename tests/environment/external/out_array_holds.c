// world: holds
// property: assertion
// native: ext
// why: an object that is defined const must not be written
#include <assert.h>
int sum(const int *a, int n);
int main(void)
{
    const int x[4] = {0};
    sum(x, 4);
    assert(x[3] == 0);
    return 0;
}
