void bump(void) __attribute__((weak));
void step(void)
{
    if (bump)
        bump();
}
