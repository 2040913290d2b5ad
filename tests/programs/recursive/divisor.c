/* The common divisor by subtraction is one of the two at most. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static int divisor(int a, int b)
{
    if (a == b)
        return a;
    if (a > b)
        return divisor(a - b, b);
    return divisor(a, b - a);
}

int main(void)
{
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
    if (a <= 0 || b <= 0 || a > 1000 || b > 1000)
        return 0;
    int c = divisor(a, b);
#ifdef FIXED
    if (c < 1 || c > a || c > b)
#else
    if (c < 1 || c >= a || c > b)
#endif
        reach_error();
    return 0;
}
