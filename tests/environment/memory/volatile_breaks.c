// world: breaks
// property: memory
// native: none (the hardware changes it)
// why: a volatile object may hold something else at each read
static volatile int level = 1;
static int table[4];
int main(void)
{
    if (level >= 0 && level < 4)
        return table[level];
    return 0;
}
