#include <errno.h>
void step(void) { errno = EINTR; }
