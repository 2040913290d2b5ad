static int count;
int *counter(void) { return &count; }
void step(void) { count++; }
