// world: holds
// property: memory
// native: ext
// why: a const object keeps its value
extern const int fixed_level;
void step(void);
static int table[4];
int main(void)
{
    if (fixed_level < 0 || fixed_level > 3)
        return 0;
    step();
    return table[fixed_level];
}
