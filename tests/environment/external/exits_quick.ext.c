#include <stdlib.h>
void step(void) { quick_exit(0); }
