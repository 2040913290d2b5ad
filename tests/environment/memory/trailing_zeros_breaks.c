// world: breaks
// property: memory
// native: ext
// why: __builtin_ctzl(0) is anything
unsigned long word(void);
static char table[65];
int main(void)
{
    return table[__builtin_ctzl(word())];
}
