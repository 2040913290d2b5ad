// world: holds
// property: assertion
// native: alone
// why: once
#include <assert.h>
#include <pthread.h>
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int calls;
static void set_up(void) { calls++; }
int main(void)
{
    pthread_once(&once, set_up);
    pthread_once(&once, set_up);
    assert(calls <= 1);
    return 0;
}
