/* How fast Fibonacci's numbers grow. They are at least their index from the fifth on; that the sixth is more is wrong. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static int fibonacci(int n)
{
    if (n < 1)
        return 0;
    if (n == 1)
        return 1;
    return fibonacci(n - 1) + fibonacci(n - 2);
}

int main(void)
{
    int n = __VERIFIER_nondet_int();
    if (n < -1000 || n > 6)
        return 0;
    int value = fibonacci(n);
#ifdef FIXED
    if (value < n - 1)
        reach_error();
#else
    if (value < n)
        reach_error();
#endif
    return 0;
}
