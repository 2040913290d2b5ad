unsigned depth(void) { return 9999999; }
