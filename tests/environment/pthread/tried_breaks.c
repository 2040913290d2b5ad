// world: breaks
// property: assertion
// native: alone
// why: who tries a mutex that is locked does not get it
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    if (pthread_mutex_lock(&m) != 0)
        return 0;
    assert(pthread_mutex_trylock(&m) == 0);
    return 0;
}
