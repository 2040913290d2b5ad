// world: breaks
// property: memory
// native: ext
// assumption: stack
// why: the stack has eight megabytes
unsigned length(void);
int main(void)
{
    unsigned n = length();
    if (n == 0)
        return 0;
    char a[n];
    a[0] = 1;
    a[n - 1] = 2;
    return a[0];
}
