// world: holds
// property: memory
// native: ext
// why: a _Bool is 0 or 1
_Bool is_set_bool(int bit);
static int table[2];
int main(void)
{
    return table[is_set_bool(3)];
}
