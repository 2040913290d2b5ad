extern int shared __attribute__((weak));
static int other;
int *current(void) { return &shared ? &shared : &other; }
