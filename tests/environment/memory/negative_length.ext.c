int count(void) { return -1; }
