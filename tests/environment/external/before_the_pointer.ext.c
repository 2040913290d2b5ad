void touch(int *element) { element[-2] = 1; }
