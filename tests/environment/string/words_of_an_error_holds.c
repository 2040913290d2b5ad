// world: holds
// property: memory
// native: wrap strerror
// why: it is a string
#include <errno.h>
#include <string.h>
int main(void)
{
    return strerror(ENOENT)[0];
}
