/* An array is turned around into another one. */
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

#define N 200
static int a[N], b[N];

int main(void)
{
    for (int i = 0; i < N; i++)
        a[i] = __VERIFIER_nondet_int();
    for (int i = 0; i < N; i++)
        b[N - 1 - i] = a[i];
    for (int i = 0; i < N; i++)
#ifdef FIXED
        if (b[i] != a[N - 1 - i])
#else
        if (b[i] != a[i])
#endif
            reach_error();
    return 0;
}
