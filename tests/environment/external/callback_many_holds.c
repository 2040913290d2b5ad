// world: holds
// property: assertion
// native: ext
// why: the count stops by itself
#include <assert.h>
void each(void (*f)(int));
static int calls;
static void count(int value)
{
    if (calls < 3)
        calls++;
    assert(calls <= 3);
}
int main(void)
{
    each(count);
    return 0;
}
