void next(int **cursor)
{
    static int other;
    *cursor = &other;
}
