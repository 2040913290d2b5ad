// world: holds
// property: memory
// native: ext
// why: static
static int used;
static int places[4];
void step(void);
int main(void)
{
    used = 3;
    step();
    places[used] = 1;
    return 0;
}
