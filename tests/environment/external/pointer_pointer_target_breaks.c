// world: breaks
// property: assertion
// native: ext
// why: through int ** the int behind it is reached
#include <assert.h>
void next(int **cursor);
int main(void)
{
    int a = 1;
    int *cursor = &a;
    next(&cursor);
    assert(a == 1);
    return 0;
}
