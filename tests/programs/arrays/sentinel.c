/* A search ends at the latest at what was put at the end for it. */
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

#define N 400
static int a[N];

int main(void)
{
    int wanted = __VERIFIER_nondet_int();
    for (int i = 0; i < N; i++)
        a[i] = __VERIFIER_nondet_int();
    a[N - 1] = wanted;
    int at = 0;
    while (a[at] != wanted)
        at++;
#ifdef FIXED
    if (at >= N)
#else
    if (at >= N - 1)
#endif
        reach_error();
    return 0;
}
