double measure(void) { return 9.5; }
