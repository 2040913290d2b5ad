void each(void (*f)(int))
{
    for (int i = 0; i < 10; i++)
        f(i);
}
