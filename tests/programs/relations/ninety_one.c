/* McCarthy's function: 91 below 101, ten less than its argument above. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static int ninety_one(int n)
{
    if (n > 100)
        return n - 10;
    return ninety_one(ninety_one(n + 11));
}

int main(void)
{
    int n = __VERIFIER_nondet_int();
    if (n < -5000 || n > 5000)
        return 0;
    int value = ninety_one(n);
#ifdef FIXED
    if (n <= 101 && value != 91)
        reach_error();
#else
    if (n <= 102 && value != 91)
        reach_error();
#endif
    if (n > 102 && value != n - 10)
        reach_error();
    return 0;
}
