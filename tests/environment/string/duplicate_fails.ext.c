char *__wrap_strdup(const char *s) { return 0; }
