// world: holds
// property: memory
// native: wrap close
// why: compared
#include <errno.h>
#include <unistd.h>
static int counts[5];
int main(void)
{
    errno = 0;
    if (close(1) == 0)
        return 0;
    return errno >= 0 && errno < 5 ? counts[errno] : 0;
}
