int next(const int **cursor)
{
    *cursor = 0;
    return 0;
}
