int __wrap_dup(int fd) { return -1; }
