#include <stdlib.h>
int position(void) { return 8; }
void complain(void) {}
void give_up(void) { exit(1); }
