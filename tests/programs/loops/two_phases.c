/* One loop finds how long something is, the next one uses it. */
unsigned __VERIFIER_nondet_uint(void);

#ifndef N
#define N 20000
#endif
#ifdef FIXED
#define ROOM (3 * N + 2)
#else
#define ROOM (3 * N + 1)
#endif

static char line[ROOM];

int main(void) {
    unsigned cells = __VERIFIER_nondet_uint();
    if (cells > N)
        return 1;
    unsigned width = 0;
    for (unsigned i = 0; i < cells; i++)
        width += 3;
    unsigned at = 0;
    while (at < width)
        line[at++] = '-';
    line[at] = '\n';
    line[at + 1] = '\0';
    return 0;
}
