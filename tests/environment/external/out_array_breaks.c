// world: breaks
// property: assertion
// native: ext
// why: the last element is the callee's to write as well as the first
#include <assert.h>
void fill(int *a, int n);
int main(void)
{
    int x[4] = {0};
    fill(x, 4);
    assert(x[3] == 0);
    return 0;
}
