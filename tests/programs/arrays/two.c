/* Two arrays are copied in one loop, and one of them once more. */
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

#define N 500
static int a[N], b[N], c[N], d[N];

int main(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = __VERIFIER_nondet_int();
        b[i] = i;
    }
    for (int i = 0; i < N; i++) {
        c[i] = a[i];
        d[i] = b[i];
    }
    for (int i = 0; i < N; i++) {
#ifdef FIXED
        if (c[i] != a[i] || d[i] != i)
#else
        if (c[i] != a[i] || d[i] == 499)
#endif
            reach_error();
    }
    return 0;
}
