// world: breaks
// property: assertion
// native: ext
// why: from a pointer to an element the elements before it can be reached
#include <assert.h>
void touch(int *element);
int main(void)
{
    int x[4] = {0};
    touch(&x[2]);
    assert(x[0] == 0);
    return 0;
}
