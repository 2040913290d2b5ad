// world: breaks
// property: assertion
// native: alone
// why: another thread writes the variable
#include <assert.h>
#include <pthread.h>
static int x;
static void *work(void *context)
{
    x = 1;
    return 0;
}
int main(void)
{
    pthread_t t;
    if (pthread_create(&t, 0, work, 0) != 0)
        return 0;
    pthread_join(t, 0);
    assert(x == 0);
    return 0;
}
