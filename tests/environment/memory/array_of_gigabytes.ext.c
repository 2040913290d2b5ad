unsigned length(void) { return 0x40000000u; }
