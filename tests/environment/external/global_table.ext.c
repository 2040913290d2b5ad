extern int *const table[2] __attribute__((weak));
void step(void)
{
    if (&table[0])
        *table[1] = 0;
}
