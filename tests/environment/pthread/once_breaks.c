// world: breaks
// property: assertion
// native: alone
// why: the routine is called
#include <assert.h>
#include <pthread.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls;
static void set_up(void) { calls++; }
int main(void)
{
    pthread_once(&once, set_up);
    assert(calls == 0);
    return 0;
}
