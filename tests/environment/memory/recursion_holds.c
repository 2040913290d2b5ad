// world: holds
// property: memory
// native: ext
// why: at most four
unsigned depth(void);
static unsigned down(unsigned n)
{
    char frame[64];
    frame[0] = (char)n;
    return n == 0 ? 0 : down(n - 1) + frame[0];
}
int main(void)
{
    return (int)(down(depth() % 4) & 1);
}
