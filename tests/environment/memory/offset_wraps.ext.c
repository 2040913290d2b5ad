unsigned long pick(void) { return 1ul << 62; }
