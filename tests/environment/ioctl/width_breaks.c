// world: breaks
// property: assertion
// native: wrap ioctl
// assumption: devices
// why: a terminal may say that it has no columns
#include <assert.h>
#include <sys/ioctl.h>
int main(void)
{
    struct winsize w = {24, 80, 0, 0};
    ioctl(1, TIOCGWINSZ, &w);
    assert(w.ws_col != 0);
    return 0;
}
