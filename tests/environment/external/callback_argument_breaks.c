// world: breaks
// property: memory
// native: ext
// why: the callback gets any number
void each(void (*f)(int));
static int seen[4];
static void mark(int at)
{
    if (at < 4)
        seen[at] = 1;
}
int main(void)
{
    each(mark);
    return 0;
}
