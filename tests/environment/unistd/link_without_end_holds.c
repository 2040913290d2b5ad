// world: holds
// property: memory
// native: alone
// why: one byte is kept for it
#include <unistd.h>
int main(void)
{
    char path[8];
    long n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0)
        return 1;
    path[n] = 0;
    return path[0];
}
