/* McCarthy's function: ten less than its argument, and never less than 91. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static int reduced(int n)
{
    if (n > 100)
        return n - 10;
    return reduced(reduced(n + 11));
}

int main(void)
{
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 1000)
        return 0;
    int result = reduced(n);
#ifdef FIXED
    if (result < 91 || result < n - 10)
#else
    if (result < 91 || result < n - 9)
#endif
        reach_error();
    return 0;
}
