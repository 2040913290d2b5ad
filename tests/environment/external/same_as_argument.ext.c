int *pass(int *p) { return p; }
