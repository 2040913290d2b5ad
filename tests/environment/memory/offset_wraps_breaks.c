// world: breaks
// property: memory
// native: ext
// why: an index whose product with the size of an element wraps is out of bounds
unsigned long pick(void);
static int a[4];
int main(void)
{
    unsigned long i = pick();
    if (i < 4 || i == 1ul << 62)
        return a[i];
    return 0;
}
