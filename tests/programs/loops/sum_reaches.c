/* The sum of the first numbers reaches a value. */
void reach_error(void);
unsigned __VERIFIER_nondet_uint(void);

#ifndef N
#define N 60000
#endif
/* N (N - 1) / 2, or that and one: which is no such sum. */
#ifdef FIXED
#define SUM (N / 2u * (N - 1u) + 1u)
#else
#define SUM (N / 2u * (N - 1u))
#endif

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n > N)
        return 1;
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += i;
    if (sum == SUM)
        reach_error();
    return 0;
}
