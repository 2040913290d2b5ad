void look(const int *p) { *(int *)p = 5; }
