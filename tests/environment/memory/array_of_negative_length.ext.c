int length(void) { return -1; }
