// world: breaks
// property: memory
// native: ext
// why: __builtin_clz(0) is anything
unsigned word(void);
static char table[33];
int main(void)
{
    return table[__builtin_clz(word())];
}
