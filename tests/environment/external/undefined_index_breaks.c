// world: breaks
// property: memory
// native: ext
// why: an index from a variable that another file defines
extern int selected;
static int table[4];
int main(void)
{
    return table[selected];
}
