static int *kept;
void reg(int *p) { kept = p; }
void step(void) { *kept = 1; }
