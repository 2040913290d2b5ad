int __real_strcmp(const char *a, const char *b);
int __wrap_strcmp(const char *a, const char *b) { return 4 * __real_strcmp(a, b); }
