const char *banner = 0;
