// world: holds
// property: assertion
// native: ext
// why: a pure function writes nothing, by its declaration
#include <assert.h>
__attribute__((pure)) int pure_total(const int *a, int n);
int main(void)
{
    int x[3] = {1, 2, 3};
    int sum = pure_total(x, 3);
    assert(x[2] == 3);
    return sum;
}
