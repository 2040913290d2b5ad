#include <sys/ioctl.h>
int __wrap_ioctl(int fd, unsigned long request, struct winsize *w)
{
    w->ws_col = 0;
    return 0;
}
