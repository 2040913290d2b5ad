#include <stdlib.h>
void consume(char *block) { free(block); }
