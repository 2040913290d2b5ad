int offset(void) { return -2147483647 - 1; }
