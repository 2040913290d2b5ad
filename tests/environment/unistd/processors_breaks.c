// world: breaks
// property: memory
// native: wrap sysconf
// assumption: identity
// why: there may be many processors
#include <unistd.h>
static int load[64];
int main(void)
{
    return load[sysconf(_SC_NPROCESSORS_ONLN) - 1];
}
