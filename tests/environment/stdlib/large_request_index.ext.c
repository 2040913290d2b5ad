unsigned length(void) { return 0x80000000u; }
