// world: holds
// property: memory
// native: ext
// why: what comes back is not followed
int next(const int **cursor);
static const int first = 3;
int main(void)
{
    const int *cursor = &first;
    const int *own = &first;
    next(&cursor);
    return cursor ? *own : 0;
}
