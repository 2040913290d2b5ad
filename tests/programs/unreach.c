/* A collection's program: what it assumes, it assumes by abort, and only reach_error counts. */
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

static void assume_or_abort(int condition)
{
    if (!condition)
        abort();
}

int main(void)
{
    int n = __VERIFIER_nondet_int();
    assume_or_abort(n > 10 && n < 1000);
    int rest = n % 7;
#ifdef FIXED
    if (rest == 3 && n > 900)
        abort();
#endif
    if (rest == 3 && n > 900)
        reach_error(); /* here */
    return 0;
}
