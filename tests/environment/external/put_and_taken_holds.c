// world: holds
// property: assertion
// native: ext
// why: only a copy was put there
#include <assert.h>
void put(int *p);
int *take(void);
int main(void)
{
    int x = 1, copy = x;
    int *p;
    put(&copy);
    p = take();
    if (p)
        *p = 7;
    assert(x == 1);
    return copy & 1;
}
