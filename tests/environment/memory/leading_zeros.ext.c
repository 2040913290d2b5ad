unsigned word(void) { return 0; }
