// world: breaks
// property: memory
// native: ext
// why: what is true as an int need not be 1
int is_set(int bit);
static int table[2];
int main(void)
{
    return table[is_set(3)];
}
