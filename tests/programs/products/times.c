/* A product by addition is the product. */
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint(), m = __VERIFIER_nondet_uint();
    if (n > 1000 || m > 1000)
        return 0;
    unsigned sum = 0;
#ifdef FIXED
    for (unsigned i = 0; i < n; i++)
#else
    for (unsigned i = 0; i < n && i < 500; i++)
#endif
        sum += m;
    if (sum != n * m)
        reach_error();
    return 0;
}
