// world: holds
// property: memory
// native: none (the C library and the kernel read there without a look by the sanitizer)
// why: a mutex is larger than the word that says whether it is locked
#include <pthread.h>
#include <stdlib.h>
int main(void)
{
    pthread_mutex_t *m = calloc(1, sizeof *m);
    if (!m)
        return 0;
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
    free(m);
    return 0;
}
