unsigned __wrap_sleep(unsigned s) { return s; }
