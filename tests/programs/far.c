/* A write that lands far away, in a neighbour, is nothing that a sanitizer sees; one at the same place that lands just behind the
 * array is. The first must not keep the second from being found. */
#include <string.h>

extern unsigned char __VERIFIER_nondet_uchar(void);

int main(void)
{
    char small[16], large[4096], *into = small;
    unsigned char how = __VERIFIER_nondet_uchar();
    size_t at = how == 0 ? 512 : how & 15;

    memset(small, 0, sizeof small);
    memset(large, 0, sizeof large);
#ifndef FIXED
    if (how == 77)
        at = 16;
#else
    if (how == 0)
        at = 0;
#endif
    into[at] = 1; /* here */
    return small[0] + large[at];
}
