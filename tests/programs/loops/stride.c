/* Every fourth byte of a buffer is set, by a length in bytes that is only checked from above. */
unsigned __VERIFIER_nondet_uint(void);

#ifndef N
#define N 100000
#endif

static unsigned char pixels[4 * N];

int main(void) {
    unsigned bytes = __VERIFIER_nondet_uint();
    if (bytes > 4 * N)
        return 1;
#ifdef FIXED
    for (unsigned i = 3; i < bytes; i += 4)
#else
    for (unsigned i = 3; i < bytes + 4; i += 4)
#endif
        pixels[i] = 255;
    return 0;
}
