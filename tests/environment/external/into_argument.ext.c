const char *find(const char *text, int c)
{
    while (*text && *text != c)
        text++;
    return *text ? text : 0;
}
