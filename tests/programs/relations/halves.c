/* How deep a list of so many elements is halved: less often than it has elements. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static int depth(int n)
{
    if (n <= 1)
        return 0;
    int left = depth(n / 2);
    int right = depth(n - n / 2);
    return 1 + (left > right ? left : right);
}

int main(void)
{
    int n = __VERIFIER_nondet_int();
    if (n < 1 || n > 1000)
        return 0;
    int value = depth(n);
#ifdef FIXED
    if (value < 0 || value > n - 1)
        reach_error();
#else
    if (value < 0 || value > n - 2)
        reach_error();
#endif
    return 0;
}
