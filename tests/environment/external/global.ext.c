extern int ready __attribute__((weak));
void step(void)
{
    if (&ready)
        ready = 0;
}
