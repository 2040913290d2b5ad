// world: breaks
// property: memory
// native: ext
// why: a signed char may be negative
signed char level(void);
static int table[128];
int main(void)
{
    return table[level()];
}
