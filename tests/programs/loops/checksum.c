/* A sum of bytes must stay below what its field holds. */
unsigned char __VERIFIER_nondet_uchar(void);
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

#ifndef LIMIT
#define LIMIT 1000000
#endif

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
#ifdef FIXED
    if (n > LIMIT / 255)
        return 1;
#else
    if (n > LIMIT)
        return 1;
#endif
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += __VERIFIER_nondet_uchar();
    if (sum > LIMIT)
        reach_error();
    return 0;
}
