/* Only as many elements are written as are read. */
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

#define N 1000
static int a[N];

int main(void)
{
    unsigned n = __VERIFIER_nondet_uint();
    if (n > N)
        return 0;
    for (unsigned i = 0; i < N; i++)
        a[i] = 1;
    for (unsigned i = 0; i < n; i++)
        a[i] = 7;
#ifdef FIXED
    for (unsigned i = 0; i < n; i++)
#else
    for (unsigned i = 0; i <= n && i < N; i++)
#endif
        if (a[i] != 7)
            reach_error();
    return 0;
}
