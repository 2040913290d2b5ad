/* A flag turns at every turn, and two counts share the turns. */
void reach_error(void);
unsigned __VERIFIER_nondet_uint(void);

#ifndef N
#define N 50000
#endif

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n > 2 * N)
        return 1;
    unsigned even = 0, odd = 0;
    int flag = 0;
    for (unsigned i = 0; i < n; i++) {
        if (flag)
            odd++;
        else
            even++;
        flag = !flag;
    }
#ifdef FIXED
    if (odd > even)
        reach_error();
#else
    if (odd == N)
        reach_error();
#endif
    return 0;
}
