// world: holds
// property: memory
// native: ext
// why: asked first
unsigned long word(void);
static char table[64];
int main(void)
{
    unsigned long w = word();
    return w ? table[__builtin_ctzl(w)] : table[__builtin_popcountl(w)];
}
