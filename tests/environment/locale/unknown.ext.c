#include <stdlib.h>
__attribute__((constructor)) static void set(void) { setenv("LC_ALL", "xx_YY.nothing", 1); }
