// world: breaks
// property: memory
// native: ext
// why: 2^32 bytes before an object is nothing
long offset(void);
static char a[16], b[16];
int main(void)
{
    long k = offset();
    a[0] = 1;
    return k == -0x100000000l ? b[k] : a[0];
}
