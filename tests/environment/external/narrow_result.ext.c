signed char level(void) { return -128; }
unsigned char unsigned_level(void) { return 255; }
