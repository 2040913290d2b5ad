/* A number without its twos is nought or one. */
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

static unsigned rest(unsigned n)
{
    if (n < 2)
        return n;
    return rest(n - 2);
}

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    if (n > 1000000)
        return 0;
#ifdef FIXED
    if (rest(n) != n % 2)
#else
    if (rest(n) != (n & 3) % 3)
#endif
        reach_error();
    return 0;
}
