// world: breaks
// property: memory
// native: ext
// why: a shift to the right by 32 does not give 0 here
unsigned bits(void);
static char table[16];
int main(void)
{
    unsigned s = bits(), mask = 0xFFFFFFFFu;
    if (s < 28)
        return 0;
    return table[mask >> s];
}
