/* The sum of the first numbers, added up on the way back. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static int sum(int n)
{
    if (n <= 0)
        return 0;
    int rest = sum(n - 1);
    if (rest < n - 1)
        reach_error();
    return rest + n;
}

int main(void)
{
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 1000)
        return 0;
    int value = sum(n);
#ifdef FIXED
    if (2 * value != n * (n + 1))
        reach_error();
#else
    if (2 * value != n * (n + 1) - (n == 77))
        reach_error();
#endif
    return 0;
}
