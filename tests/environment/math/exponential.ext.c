double measure(void) { return 1000.0; }
