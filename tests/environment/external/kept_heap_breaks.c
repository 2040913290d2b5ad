// world: breaks
// property: assertion
// native: ext
// why: a block of the heap that was handed over stays within reach
#include <assert.h>
#include <stdlib.h>
void keep(int *p);
void step(void);
int main(void)
{
    int *p = malloc(sizeof *p);
    if (!p)
        return 0;
    keep(p);
    *p = 1;
    step();
    assert(*p == 1);
    return 0;
}
