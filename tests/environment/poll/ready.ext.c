#include <poll.h>
int __wrap_poll(struct pollfd *p, nfds_t n, int wait)
{
    p->revents = POLLIN;
    return 1;
}
