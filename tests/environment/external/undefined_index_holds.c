// world: holds
// property: memory
// native: ext
// why: checked once, copied before
extern int selected;
static int table[4];
int main(void)
{
    int i = selected;
    return i >= 0 && i < 4 ? table[i] : 0;
}
