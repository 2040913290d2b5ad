int limit = 3;
unsigned char small_limit = 255;
