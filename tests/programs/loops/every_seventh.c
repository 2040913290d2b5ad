/* Every seventh packet is longer. */
void reach_error(void);
unsigned __VERIFIER_nondet_uint(void);

#ifndef N
#define N 70000
#endif

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n > N)
        return 1;
    unsigned bytes = 0;
    for (unsigned i = 0; i < n; i++)
        bytes += i % 7 == 0 ? 5 : 1;
#ifdef FIXED
    if (bytes > 5 * N)
        reach_error();
#else
    /* n + 4 for each seventh: 70000 + 4 * 10000. */
    if (bytes == N + N / 7 * 4)
        reach_error();
#endif
    return 0;
}
