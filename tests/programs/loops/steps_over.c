/* A loop that ends on equality, and a length that it steps over. */
unsigned __VERIFIER_nondet_uint(void);

#ifndef N
#define N 100000
#endif

static unsigned short samples[3 * N];

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n > 3 * N)
        return 1;
#ifdef FIXED
    n -= n % 3;
#endif
    for (unsigned i = 0; i != n; i += 3)
        samples[i] = 7;
    return 0;
}
