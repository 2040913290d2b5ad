// world: holds
// property: memory
// native: ext
// why: 1 to 100
int length(void);
int main(void)
{
    int n = length();
    if (n > 100 || n < 1)
        return 0;
    int a[n];
    a[n - 1] = 1;
    return a[n - 1];
}
