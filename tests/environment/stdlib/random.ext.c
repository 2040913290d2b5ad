int __wrap_rand(void) { return 42; }
