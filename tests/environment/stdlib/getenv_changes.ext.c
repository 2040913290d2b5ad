#include <stdlib.h>
__attribute__((constructor)) static void set(void) { setenv("PAIRS_MODE", "x", 1); }
void step(void) { unsetenv("PAIRS_MODE"); }
