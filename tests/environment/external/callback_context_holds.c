// world: holds
// property: memory
// native: ext
// why: the callback follows nothing that it is given
void each(void (*f)(void *), void *context);
static int count;
static void add(void *context) { count = context != 0; }
int main(void)
{
    each(add, &count);
    return 0;
}
