// world: breaks
// property: memory
// native: ext
// why: a shift by more than the width is anything; this machine takes the number modulo 32
unsigned bits(void);
static char table[2];
int main(void)
{
    unsigned s = bits();
    if (s < 32)
        return 0;
    return table[1u << s];
}
