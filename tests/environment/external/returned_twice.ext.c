int *slot(int n)
{
    static int only;
    return &only;
}
