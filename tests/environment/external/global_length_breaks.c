// world: breaks
// property: memory
// native: ext
// why: the number of used places may be set by another file
int used;
static int places[4];
void step(void);
int main(void)
{
    used = 3;
    step();
    places[used] = 1;
    return 0;
}
