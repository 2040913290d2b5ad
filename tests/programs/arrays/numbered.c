/* Elements say where they lie. */
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

#define N 800
static int a[N];

int main(void)
{
    int from = __VERIFIER_nondet_int();
    if (from < 0 || from > 100000)
        return 0;
    for (int i = 0; i < N; i++)
        a[i] = from + 2 * i;
    for (int i = 0; i < N; i++)
#ifdef FIXED
        if (a[i] != from + 2 * i)
#else
        if (a[i] == from + 2 * i && a[i] == 3000)
#endif
            reach_error();
    return 0;
}
