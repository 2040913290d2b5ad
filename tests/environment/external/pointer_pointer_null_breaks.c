// world: breaks
// property: memory
// native: ext
// assumption: external-pointers
// why: NULL is a pointer that the callee can leave
int next(const int **cursor);
static const int first = 3;
int main(void)
{
    const int *cursor = &first;
    next(&cursor);
    return *cursor;
}
