// world: holds
// property: assertion
// native: ext
// why: the function is not handed over before the assertion
#include <assert.h>
void on_event(void (*f)(void));
void step(void);
static int events;
static void event(void) { events = 1; }
int main(void)
{
    events = 0;
    step();
    assert(events == 0);
    on_event(event);
    return 0;
}
