// world: holds
// property: memory
// native: ext
// why: checked
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
    return result ? *result : 0;
}
