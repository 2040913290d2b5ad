/* The least element is no larger than any. */
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
void reach_error(void);

#define N 300
static int a[N];

int main(void)
{
    int least = 2147483647;
    for (int i = 0; i < N; i++)
        a[i] = __VERIFIER_nondet_int();
    for (int i = 0; i < N; i++)
        if (a[i] < least)
            least = a[i];
    for (int i = 0; i < N; i++)
#ifdef FIXED
        if (a[i] < least)
#else
        if (a[i] <= least)
#endif
            reach_error();
    return 0;
}
