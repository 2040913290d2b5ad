int __wrap_getpid(void) { return 4194303; }
