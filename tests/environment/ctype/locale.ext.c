/* As it is where the locale's characters are ISO 8859-1. */
int __wrap_isalpha(int c) { return (c | 32) >= 'a' && (c | 32) <= 'z' || c >= 0xC0; }
