// world: breaks
// property: memory
// native: ext
// assumption: external-calls
// why: nine calls fill more than eight places
void each(void (*f)(int));
static int places[8], used;
static void add(int value) { places[used++] = value; }
int main(void)
{
    each(add);
    return used;
}
