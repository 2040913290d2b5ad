// world: holds
// property: memory
// native: ext
// why: negative ones are left out, too
void each(void (*f)(int));
static int seen[4];
static void mark(int at)
{
    if (at >= 0 && at < 4)
        seen[at] = 1;
}
int main(void)
{
    each(mark);
    return 0;
}
