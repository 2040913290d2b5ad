// world: holds
// property: memory
// native: wrap getpid
// why: never negative, and reduced
#include <unistd.h>
static int seen[64];
int main(void)
{
    return seen[getpid() % 64];
}
