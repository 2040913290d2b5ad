/* Multiplication by adding as often. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static int times(int n, int m)
{
    if (n <= 0)
        return 0;
    int rest = times(n - 1, m);
    return n % 2 == 0 ? m + rest : rest + m;
}

int main(void)
{
    int n = __VERIFIER_nondet_int();
    int m = __VERIFIER_nondet_int();
    if (n < 0 || n > 1000 || m < 0 || m > 1000)
        return 0;
    int value = times(n, m);
#ifdef FIXED
    if (value != n * m)
        reach_error();
#else
    if (value != n * m || value == 35)
        reach_error();
#endif
    return 0;
}
