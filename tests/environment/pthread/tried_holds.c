// world: holds
// property: assertion
// native: alone
// why: it is busy
#include <assert.h>
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    if (pthread_mutex_lock(&m) != 0)
        return 0;
    assert(pthread_mutex_trylock(&m) == EBUSY);
    return 0;
}
