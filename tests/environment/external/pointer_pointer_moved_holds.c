// world: holds
// property: assertion
// native: ext
// why: the program goes on with a pointer of its own
#include <assert.h>
void next(int **cursor);
int main(void)
{
    int a = 1;
    int *cursor = &a, *own = &a;
    next(&cursor);
    assert(own == &a);
    return 0;
}
