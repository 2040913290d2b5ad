/* Addition by counting, up and down. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static int add(int m, int n)
{
    int rest;
    if (n == 0)
        return m;
    if (n > 0) {
        rest = add(m, n - 1);
        return rest + 1;
    }
    rest = add(m, n + 1);
    return rest - 1;
}

int main(void)
{
    int m = __VERIFIER_nondet_int();
    int n = __VERIFIER_nondet_int();
    if (m < -10000 || m > 10000 || n < -3000 || n > 3000)
        return 0;
    int value = add(m, n);
#ifdef FIXED
    if (value != m + n)
        reach_error();
#else
    if (value > 12998)
        reach_error();
#endif
    return 0;
}
