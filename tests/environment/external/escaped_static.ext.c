static int *kept;
void reg(int *p) { kept = p; }
void step(void)
{
    if (kept)
        *kept = 3;
}
