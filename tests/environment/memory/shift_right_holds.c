// world: holds
// property: memory
// native: ext
// why: 28 to 31 alone
unsigned bits(void);
static char table[16];
int main(void)
{
    unsigned s = bits(), mask = 0xFFFFFFFFu;
    if (s < 28 || s > 31)
        return 0;
    return table[mask >> s];
}
