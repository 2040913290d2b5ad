unsigned count(void) { return 8; }
