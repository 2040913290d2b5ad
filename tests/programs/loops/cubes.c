/* Squares and cubes by differences alone. */
void reach_error(void);
unsigned __VERIFIER_nondet_uint(void);

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n > 1600)
        return 1;
    unsigned square = 0, cube = 0;
    for (unsigned i = 0; i < n; i++) {
        cube += 3 * square + 3 * i + 1;
        square += 2 * i + 1;
    }
#ifdef FIXED
    if (square != n * n)
        reach_error();
#else
    if (cube == 1500u * 1500u * 1500u)
        reach_error();
#endif
    return 0;
}
