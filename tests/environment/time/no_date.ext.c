long stamp(void) { return 0x7FFFFFFFFFFFFFFF; }
