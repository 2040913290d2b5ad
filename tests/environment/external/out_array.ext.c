void fill(int *a, int n) { a[n - 1] = 7; }
int sum(const int *a, int n) { return a[n - 1]; }
