// world: holds
// property: memory
// native: ext
// why: a const function answers the same, by its declaration
__attribute__((const)) int fixed(void);
static int table[4];
int main(void)
{
    int i = fixed();
    if (i >= 0 && i < 4)
        return table[i];
    return 0;
}
