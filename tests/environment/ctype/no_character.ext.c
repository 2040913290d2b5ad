int key(void) { return 0x7FFFFFF; }
