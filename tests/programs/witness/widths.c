/* Safe: variables of several sizes, with and without sign, one of them in memory. */
extern unsigned char __VERIFIER_nondet_uchar(void);
extern short __VERIFIER_nondet_short(void);
extern void reach_error(void);
static unsigned long total;

static void grow(signed char *level)
{
    if (*level < 100)
        *level += 1;
}

int main(void)
{
    unsigned char count = __VERIFIER_nondet_uchar();
    short low = __VERIFIER_nondet_short();
    signed char level = 0;
    if (low < -5 || low > -1)
        return 0;
    for (unsigned char i = 0; i < count; i++) {
        grow(&level);
        total += 2;
        if (low >= 0 || level < 0)
            reach_error();
    }
    return 0;
}
