/* Ackermann's function for small arguments, never negative; how much it is at the least. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static unsigned tower(unsigned m, unsigned n)
{
    if (m == 0)
        return n < 1000 ? n + 1 : n;
    if (n == 0)
        return tower(m - 1, 1);
    unsigned below = tower(m, n - 1);
    return tower(m - 1, below);
}

int main(void)
{
    int m = __VERIFIER_nondet_int();
    int n = __VERIFIER_nondet_int();
    if (m < 0 || m > 2 || n < 0 || n > 20)
        return 0;
    unsigned value = tower(m, n);
#ifdef FIXED
    if (value == 0 || value > 1000)
        reach_error();
#else
    if (value == 0 || value > 40)
        reach_error();
#endif
    return 0;
}
