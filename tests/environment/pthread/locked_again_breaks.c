// world: breaks
// property: assertion
// native: alone
// why: after it was unlocked it can be locked again
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    if (pthread_mutex_lock(&m) != 0 || pthread_mutex_unlock(&m) != 0 || pthread_mutex_lock(&m) != 0)
        return 0;
    assert(0);
    return 0;
}
