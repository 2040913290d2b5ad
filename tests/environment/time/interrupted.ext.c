int __wrap_nanosleep(const void *a, void *b) { return -1; }
