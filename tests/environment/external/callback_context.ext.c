void each(void (*f)(void *), void *context) { f(0); }
