int number(void) { return 1234567; }
