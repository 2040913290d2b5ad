// world: holds
// property: memory
// native: ext
// why: an unsigned char is at most 255
unsigned char unsigned_level(void);
static int table[256];
int main(void)
{
    return table[unsigned_level()];
}
