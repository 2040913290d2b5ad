/* One array becomes the other. */
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

#define N 1000
static int a[N], b[N];

int main(void)
{
    for (int i = 0; i < N; i++)
        a[i] = __VERIFIER_nondet_int();
    for (int i = 0; i < N; i++)
        b[i] = a[i];
#ifndef FIXED
    b[__VERIFIER_nondet_uint() % N] = 3;
#endif
    for (int i = 0; i < N; i++)
        if (a[i] != b[i])
            reach_error();
    return 0;
}
