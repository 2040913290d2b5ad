// world: holds
// property: assertion
// native: ext
// why: the structure that is handed over names no function of the program
#include <assert.h>
struct operations {
    int id;
    void (*tick)(void);
};
void reg(const struct operations *o);
void step(void);
static int ticks;
static void tick(void) { ticks++; }
static const struct operations mine = {1, 0};
int main(void)
{
    reg(&mine);
    ticks = 0;
    step();
    assert(ticks == 0);
    tick();
    return 0;
}
