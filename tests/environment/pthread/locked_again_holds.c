// world: holds
// property: assertion
// native: none (it would wait for ever)
// why: a normal mutex that is locked twice waits for ever
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    if (pthread_mutex_lock(&m) != 0 || pthread_mutex_lock(&m) != 0)
        return 0;
    assert(0);
    return 0;
}
