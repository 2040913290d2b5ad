/* A signed sum that overflows. */
extern int __VERIFIER_nondet_int(void);

int main(void)
{
    int a = __VERIFIER_nondet_int();
    int b = __VERIFIER_nondet_int();
    if (a < 1000000 || b < 0)
        return 0;
    int sum = a + b; /* here */
    return sum == 0;
}
