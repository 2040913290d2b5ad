// world: breaks
// property: memory
// native: alone
// why: nothing is there before something was put there
#include <pthread.h>
int main(void)
{
    pthread_key_t key;
    if (pthread_key_create(&key, 0) != 0)
        return 0;
    return *(int *)pthread_getspecific(key);
}
