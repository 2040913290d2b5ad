// world: breaks
// property: memory
// native: ext
// why: the entries of another file's array have any value
extern const unsigned char order[4];
static int table[4];
int main(void)
{
    return table[order[3]];
}
