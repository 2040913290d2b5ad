// world: holds
// property: memory
// native: ext
// why: small offsets alone
unsigned long far(void);
static char a[16], b[16];
int main(void)
{
    unsigned long k = far();
    b[0] = 1;
    if (k < 16)
        return a[k];
    return b[0];
}
