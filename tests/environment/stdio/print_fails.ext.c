int __wrap_printf(const char *format, ...) { return -1; }
