// world: breaks
// property: memory
// native: ext
// assumption: external-calls
// why: the context that comes back may be NULL
void each(void (*f)(void *), void *context);
static void add(void *context) { ++*(int *)context; }
int main(void)
{
    int count = 0;
    each(add, &count);
    return 0;
}
