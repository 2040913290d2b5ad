// world: holds
// property: memory
// native: ext
// why: full is full
void each(void (*f)(int));
static int places[8], used;
static void add(int value)
{
    if (used < 8)
        places[used++] = value;
}
int main(void)
{
    each(add);
    return used;
}
