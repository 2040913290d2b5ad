// world: breaks
// property: assertion
// native: ext
// assumption: external-calls
// why: a callback may be called more often than twice
#include <assert.h>
void each(void (*f)(int));
static int calls;
static void count(int value)
{
    calls++;
    assert(calls <= 3);
}
int main(void)
{
    each(count);
    return 0;
}
