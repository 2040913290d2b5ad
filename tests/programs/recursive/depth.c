/* How deep the calls go, each of which adds one to what comes back. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static unsigned depth(unsigned n)
{
    if (n == 0)
        return 0;
    return depth(n - 1) + 1;
}

int main(void)
{
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 3000)
        return 0;
#ifdef FIXED
    if (depth((unsigned)n) != (unsigned)n)
#else
    if (depth((unsigned)n) == 2999)
#endif
        reach_error();
    return 0;
}
