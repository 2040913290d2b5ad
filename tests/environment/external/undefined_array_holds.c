// world: holds
// property: memory
// native: ext
// why: the entries are checked; the array is as long as it is declared
extern const unsigned char order[4];
static int table[4];
int main(void)
{
    return order[3] < 4 ? table[order[3]] : 0;
}
