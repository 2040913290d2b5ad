// world: holds
// property: memory
// native: ext
// why: at most a kilobyte
unsigned length(void);
int main(void)
{
    unsigned n = length() % 1024 + 1;
    char a[n];
    a[0] = 1;
    a[n - 1] = 2;
    return a[0];
}
