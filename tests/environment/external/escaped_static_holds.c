// world: holds
// property: assertion
// native: ext
// why: its address is handed out after the assertion only
#include <assert.h>
void reg(int *p);
void step(void);
static int state;
int main(void)
{
    state = 2;
    step();
    assert(state == 2);
    reg(&state);
    return 0;
}
