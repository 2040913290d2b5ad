// world: holds
// property: memory
// native: ext
// why: a step back from the middle stays inside
long offset(void);
static char a[16], b[16];
int main(void)
{
    long k = offset();
    a[0] = 1;
    return k < 0 && k >= -8 ? (b + 8)[k] : a[0];
}
