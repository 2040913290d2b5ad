// world: breaks
// property: memory
// native: ext
// why: nothing says that the function does not come back
int position(void);
void complain(void);
static int table[8];
int main(void)
{
    int i = position();
    if (i < 0 || i > 7)
        complain();
    return table[i];
}
