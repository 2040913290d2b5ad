// world: holds
// property: memory
// native: alone
// why: asked whether it is there
__attribute__((weak)) int extra(void);
static int table[2];
int main(void)
{
    if (extra)
        return extra() ? table[0] : table[1];
    return 0;
}
