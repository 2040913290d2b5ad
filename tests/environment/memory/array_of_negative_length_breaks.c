// world: breaks
// property: memory
// native: ext
// why: the length of an array must be positive
int length(void);
int main(void)
{
    int n = length();
    if (n > 100)
        return 0;
    int a[n];
    a[0] = 1;
    return a[0];
}
