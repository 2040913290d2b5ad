void enlist(int *link) { link[-1] = 0; }
