#include <sys/stat.h>
__attribute__((constructor)) static void set(void) { umask(077); }
