/* Two counters in step: one place a turn is read, two are written. */
unsigned __VERIFIER_nondet_uint(void);

#ifndef N
#define N 100000
#endif
#ifdef FIXED
#define ROOM (2 * N)
#else
#define ROOM (2 * N - 1)
#endif

static unsigned char out[ROOM];

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n > N)
        return 1;
    unsigned to = 0;
    for (unsigned from = 0; from < n; from++) {
        out[to] = 1;
        out[to + 1] = 2;
        to += 2;
    }
    return 0;
}
