// world: breaks
// property: memory
// native: alone
// why: readlink puts no terminator, and may fill the buffer
#include <unistd.h>
int main(void)
{
    char path[8];
    long n = readlink("/proc/self/exe", path, sizeof path);
    if (n < 0)
        return 1;
    path[n] = 0;
    return path[0];
}
