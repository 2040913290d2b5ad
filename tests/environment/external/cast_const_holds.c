// world: holds
// property: assertion
// native: ext
// why: a copy is shown
#include <assert.h>
void look(const int *p);
int main(void)
{
    int x = 0, copy = x;
    look(&copy);
    assert(x == 0);
    return 0;
}
