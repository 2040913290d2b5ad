/* A number counted down and up again, by two functions. */
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

static unsigned same(unsigned n);

static unsigned again(unsigned n)
{
    if (n == 0)
        return 0;
    unsigned rest = same(n - 1);
    return rest + 1;
}

static unsigned same(unsigned n)
{
    if (n == 0)
        return 0;
    unsigned rest = again(n - 1);
    return rest + 1;
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    if (n > 5000)
        return 0;
    unsigned value = same(n);
#ifdef FIXED
    if (value != n)
        reach_error();
#else
    if (value == 123)
        reach_error();
#endif
    return 0;
}
