unsigned bits(void) { return 44; }
