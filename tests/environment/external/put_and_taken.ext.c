static int *held;
void put(int *p) { held = p; }
int *take(void) { return held; }
