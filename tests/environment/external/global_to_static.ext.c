extern int *gate __attribute__((weak));
void step(void)
{
    if (&gate)
        *gate = 2;
}
