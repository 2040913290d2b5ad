int __wrap_setenv(const char *n, const char *v, int o) { return -1; }
