// world: breaks
// property: assertion
// native: ext
// assumption: const
// why: const in the prototype alone: the array can be written all the same
#include <assert.h>
int total(const int *a, int n);
int main(void)
{
    int x[3] = {1, 2, 3};
    total(x, 3);
    assert(x[2] == 3);
    return 0;
}
