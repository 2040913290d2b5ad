// world: holds
// property: memory
// native: alone
// why: with a sign it is -1
static char a[16];
int main(void)
{
    unsigned k = 3;
    char *p = a + 8;
    return p[(int)(k - 4)];
}
