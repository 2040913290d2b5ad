// world: breaks
// property: assertion
// native: ext
// assumption: external-results
// why: what was put into the outside world can be taken out again
#include <assert.h>
void put(int *p);
int *take(void);
int main(void)
{
    int x = 1;
    int *p;
    put(&x);
    p = take();
    x = 1;
    if (p)
        *p = 7;
    assert(x == 1);
    return 0;
}
