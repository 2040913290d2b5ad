// world: breaks
// property: memory
// native: ext
// why: an offset of 2^32 is outside, however objects are numbered
unsigned long far(void);
static char a[16], b[16];
int main(void)
{
    unsigned long k = far();
    b[0] = 1;
    if (k < 16 || k == 0x100000000ul)
        return a[k];
    return b[0];
}
