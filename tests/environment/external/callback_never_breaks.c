// world: breaks
// property: memory
// native: ext
// why: nothing says that the callback is called at all
void each(void (*f)(int));
static int value;
static int *result;
static void note(int v)
{
    value = v;
    result = &value;
}
int main(void)
{
    each(note);
    return *result;
}
