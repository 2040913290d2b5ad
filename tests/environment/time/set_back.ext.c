long __wrap_time(long *into)
{
    static long now = 1000;
    return --now;
}
