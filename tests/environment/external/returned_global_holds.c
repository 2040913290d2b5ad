// world: holds
// property: assertion
// native: ext
// why: a static variable is unknown outside
#include <assert.h>
static int own;
int *current(void);
int main(void)
{
    int *p = current();
    own = 1;
    if (p)
        *p = 0;
    assert(own == 1);
    return 0;
}
