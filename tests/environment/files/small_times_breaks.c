// world: breaks
// property: memory
// native: none (the C library and the kernel read there without a look by the sanitizer)
// why: utimes reads two times
#include <sys/time.h>
int main(void)
{
    struct timeval times[1] = {{1, 0}};
    return utimes("f", times);
}
