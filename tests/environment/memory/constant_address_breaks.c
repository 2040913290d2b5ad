// world: breaks
// property: memory
// native: alone
// why: nothing is known to be at an address that somebody made up
static char a[16];
int main(void)
{
    a[0] = 1;
    return *(char *)0x1000000000000;
}
