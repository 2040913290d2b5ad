void each(void (*f)(int)) {}
