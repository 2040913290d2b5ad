#include <signal.h>
int __wrap_puts(const char *s)
{
    raise(SIGINT);
    return 0;
}
