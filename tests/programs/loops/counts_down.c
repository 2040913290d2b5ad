/* An unsigned counter counts down, and is never below nothing. */
unsigned __VERIFIER_nondet_uint(void);

#ifndef N
#define N 100000
#endif

static int heap[N];

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n == 0 || n > N)
        return 1;
#ifdef FIXED
    for (unsigned i = n; i > 0; i--)
        heap[i - 1] = 1;
#else
    for (unsigned i = n - 1; i + 1 >= 1 && i < n + 1; i--)
        heap[i] = 1;
    for (unsigned i = n - 1; (int)i >= -1; i--)
        heap[i] = 1;
#endif
    return 0;
}
