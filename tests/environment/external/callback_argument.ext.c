void each(void (*f)(int)) { f(-1000); }
