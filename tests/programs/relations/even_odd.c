/* Two functions that call each other, and count down in turn. */
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

static int odd(unsigned n);

static int even(unsigned n)
{
    if (n == 0)
        return 1;
    return odd(n - 1) ? 1 : 0;
}

static int odd(unsigned n)
{
    if (n == 0)
        return 0;
    return even(n - 1) ? 1 : 0;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    if (n > 2000)
        return 0;
#ifdef FIXED
    if (even(n) == n % 2)
        reach_error();
#else
    if (even(n) == n % 2 || (odd(n) && n > 90 && n < 93))
        reach_error();
#endif
    return 0;
}
