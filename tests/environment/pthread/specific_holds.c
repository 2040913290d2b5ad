// world: holds
// property: memory
// native: alone
// why: put there first
#include <pthread.h>
static int own = 1;
int main(void)
{
    pthread_key_t key;
    if (pthread_key_create(&key, 0) != 0 || pthread_setspecific(key, &own) != 0)
        return 0;
    return *(int *)pthread_getspecific(key);
}
