// world: breaks
// property: memory
// native: ext
// assumption: stack
// why: ten million frames are more than the stack
unsigned depth(void);
static unsigned down(unsigned n)
{
    volatile char frame[64];
    frame[0] = (char)n;
    return n == 0 ? 0 : down(n - 1) + frame[0];
}
int main(void)
{
    return (int)(down(depth() % 10000000) & 1);
}
