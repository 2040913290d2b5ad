// world: holds
// property: assertion
// native: ext
// why: the pointer that is handed over leads elsewhere
#include <assert.h>
void next(int **cursor);
int main(void)
{
    int a = 1, b = 2;
    int *cursor = &b;
    next(&cursor);
    assert(a == 1);
    return b & 1;
}
