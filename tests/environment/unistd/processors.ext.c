long __wrap_sysconf(int name) { return 256; }
