int old_style(int *p)
{
    *p = 0;
    return 0;
}
int old_value(int v) { return v; }
