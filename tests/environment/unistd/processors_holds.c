// world: holds
// property: memory
// native: wrap sysconf
// why: limited
#include <unistd.h>
static int load[64];
int main(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n >= 1 && n <= 64 ? load[n - 1] : 0;
}
