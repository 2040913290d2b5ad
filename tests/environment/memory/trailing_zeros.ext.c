unsigned long word(void) { return 0; }
