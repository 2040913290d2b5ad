// world: holds
// property: memory
// native: ext
// why: a _Noreturn function that came back would break its own declaration
int position(void);
_Noreturn void give_up(void);
static int table[8];
int main(void)
{
    int i = position();
    if (i < 0 || i > 7)
        give_up();
    return table[i];
}
