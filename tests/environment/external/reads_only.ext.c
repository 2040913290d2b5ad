int total(const int *a, int n)
{
    ((int *)a)[n - 1] = 0;
    return 0;
}
int pure_total(const int *a, int n) { return a[n - 1]; }
