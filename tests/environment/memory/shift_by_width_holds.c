// world: holds
// property: memory
// native: ext
// why: the number of bits is limited
unsigned bits(void);
static char table[129];
int main(void)
{
    unsigned s = bits();
    return table[1u << (s & 7)];
}
