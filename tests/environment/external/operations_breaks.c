// world: breaks
// property: assertion
// native: ext
// assumption: external-calls
// why: functions in a structure that was handed over are called later
#include <assert.h>
struct operations {
    int id;
    void (*tick)(void);
};
void reg(const struct operations *o);
void step(void);
static int ticks;
static void tick(void) { ticks++; }
static const struct operations mine = {1, tick};
int main(void)
{
    reg(&mine);
    ticks = 0;
    step();
    assert(ticks == 0);
    return 0;
}
