void each(void (*f)(int))
{
    for (int i = 0; i < 9; i++)
        f(i);
}
