// world: holds
// property: memory
// native: ext
// why: the product is a number, and wraps to 0
unsigned long pick(void);
static int a[4];
int main(void)
{
    unsigned long i = pick();
    int *p = a;
    if (i < 4 || i == 1ul << 62)
        return p[(i * 4 & 15) / 4];
    return 0;
}
