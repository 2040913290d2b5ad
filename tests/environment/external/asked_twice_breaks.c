// world: breaks
// property: memory
// native: ext
// why: the second answer need not be the first
int level(void);
static int table[4];
int main(void)
{
    if (level() >= 0 && level() < 4)
        return table[level()];
    return 0;
}
