// world: breaks
// property: memory
// native: ext
// why: the variable may change between the check and the use
extern int level;
void step(void);
static int table[4];
int main(void)
{
    if (level < 0 || level > 3)
        return 0;
    step();
    return table[level];
}
