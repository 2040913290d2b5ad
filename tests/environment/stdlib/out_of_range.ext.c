#include <stdlib.h>
__attribute__((constructor)) static void set(void) { setenv("PAIRS_SIZE", "99999999999999999999999", 1); }
