// world: holds
// property: memory
// native: alone
// why: it is read once
static volatile int level = 1;
static int table[4];
int main(void)
{
    int seen = level;
    if (seen >= 0 && seen < 4)
        return table[seen];
    return 0;
}
