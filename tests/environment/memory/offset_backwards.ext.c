long offset(void) { return -0x100000000l; }
