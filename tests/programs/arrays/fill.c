/* Every element is set to the same number. */
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

#define N 1000
static int a[N];

int main(void)
{
    int value = __VERIFIER_nondet_int();
    for (int i = 0; i < N; i++)
        a[i] = value;
#ifdef FIXED
    for (int i = 0; i < N; i++)
#else
    a[N / 2]++;
    for (int i = 0; i < N; i++)
#endif
        if (a[i] != value)
            reach_error();
    return 0;
}
