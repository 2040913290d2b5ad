unsigned long far(void) { return 0x100000000ul; }
