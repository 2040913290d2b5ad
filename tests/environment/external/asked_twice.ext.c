int level(void)
{
    static int n;
    return n++ == 2 ? 9 : 1;
}
int fixed(void) { return 4; }
