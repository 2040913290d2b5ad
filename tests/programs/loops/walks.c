/* A pointer walks over records of an odd size, with an end that not every length has. */
unsigned __VERIFIER_nondet_uint(void);

#ifndef N
#define N 30000
#endif

static unsigned char bytes[6 * N + 2];

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n > 6 * N + 2)
        return 1;
#ifdef FIXED
    for (unsigned char *p = bytes; p + 6 <= bytes + n; p += 6)
#else
    for (unsigned char *p = bytes; p < bytes + n; p += 6)
#endif
    {
        p[0] = 1;
        p[5] = 2;
    }
    return 0;
}
