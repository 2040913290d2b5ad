// world: breaks
// property: assertion
// native: ext
// assumption: external-pointers
// why: the pointer itself may be set to something else
#include <assert.h>
void next(int **cursor);
int main(void)
{
    int a = 1;
    int *cursor = &a;
    next(&cursor);
    assert(cursor == &a);
    return 0;
}
