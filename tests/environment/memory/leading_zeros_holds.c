// world: holds
// property: memory
// native: ext
// why: never 0
unsigned word(void);
static char table[32];
int main(void)
{
    return table[__builtin_clz(word() | 1)];
}
