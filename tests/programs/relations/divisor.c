/* The greatest common divisor by subtraction: positive, and no more than either number. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static int divisor(int a, int b)
{
    int found;
    if (a == b)
        return a;
    if (a > b)
        found = divisor(a - b, b);
    else
        found = divisor(a, b - a);
    return found > b ? b : found;
}

int main(void)
{
    int a = __VERIFIER_nondet_int();
    int b = __VERIFIER_nondet_int();
    if (a <= 0 || b <= 0)
        return 0;
    if (a > 300 || b > 300)
        return 0;
    int found = divisor(a, b);
#ifdef FIXED
    if (found < 1 || found > a || found > b)
        reach_error();
#else
    if (found < 1 || found >= a || found > b)
        reach_error();
#endif
    return 0;
}
