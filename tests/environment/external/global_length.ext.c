extern int used __attribute__((weak));
void step(void)
{
    if (&used)
        used = 4;
}
