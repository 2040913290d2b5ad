// world: breaks
// property: memory
// native: alone
// why: 3 - 4 without a sign is four thousand million
static char a[16];
int main(void)
{
    unsigned k = 3;
    char *p = a + 8;
    return p[k - 4];
}
