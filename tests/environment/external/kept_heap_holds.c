// world: holds
// property: assertion
// native: ext
// why: nobody outside knows this block
#include <assert.h>
#include <stdlib.h>
void step_alone(void);
int main(void)
{
    int *p = malloc(sizeof *p);
    if (!p)
        return 0;
    *p = 1;
    step_alone();
    assert(*p == 1);
    free(p);
    return 0;
}
