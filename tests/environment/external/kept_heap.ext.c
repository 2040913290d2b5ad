static int *kept;
void keep(int *p) { kept = p; }
void step(void) { *kept = 2; }
void step_alone(void) {}
