/* The total beside a function that calls itself and never looks at it: inside the function nothing is known of the total but what the program began
 * with, and that is not what it holds. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

static int total, *into = &total;

static int sum(int n)
{
    int next = n - 1, below = 0;
    int *p = &below;
    if (n <= 0)
        return 1;
    *p += sum(next);
    return n + below;
}

int main(void)
{
    unsigned char given = (unsigned char)__VERIFIER_nondet_int();
    if (into)
        *into = given / 3;
    int found = sum(1);
#ifdef FIXED
    if (total > 85)
#else
    if (found + total > 80)
#endif
        reach_error();
    return 0;
}
