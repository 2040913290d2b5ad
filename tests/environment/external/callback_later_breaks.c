// world: breaks
// property: assertion
// native: ext
// assumption: external-calls
// why: a function that was handed over may be called by a later call
#include <assert.h>
void on_event(void (*f)(void));
void step(void);
static int events;
static void event(void) { events = 1; }
int main(void)
{
    on_event(event);
    events = 0;
    step();
    assert(events == 0);
    return 0;
}
