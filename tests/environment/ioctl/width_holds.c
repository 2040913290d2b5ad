// world: holds
// property: assertion
// native: wrap ioctl
// why: replaced
#include <assert.h>
#include <sys/ioctl.h>
int main(void)
{
    struct winsize w = {24, 80, 0, 0};
    ioctl(1, TIOCGWINSZ, &w);
    if (w.ws_col == 0)
        w.ws_col = 80;
    assert(w.ws_col != 0);
    return 0;
}
