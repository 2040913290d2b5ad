unsigned count(void) { return 0x40000001u; }
