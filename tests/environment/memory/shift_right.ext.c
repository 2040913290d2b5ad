unsigned bits(void) { return 32; }
