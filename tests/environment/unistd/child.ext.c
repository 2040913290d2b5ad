int __wrap_fork(void) { return 0; }
