// world: breaks
// property: assertion
// native: ext
// why: a static variable whose address was handed out is known outside
#include <assert.h>
void reg(int *p);
void step(void);
static int state;
int main(void)
{
    reg(&state);
    state = 2;
    step();
    assert(state == 2);
    return 0;
}
