#include <stdlib.h>
void step(void) { exit(0); }
