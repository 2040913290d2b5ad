double measure(void) { return 0.0; }
