// world: holds
// property: assertion
// native: alone
// why: the assertion stands before there is one
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
    assert(x == 0);
    if (pthread_create(&t, 0, work, 0) != 0)
        return 0;
    pthread_join(t, 0);
    return 0;
}
