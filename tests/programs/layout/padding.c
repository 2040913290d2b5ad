/* A structure's padding is cleared on one way only: on the other one it is what it was.
 * FIXED: it is cleared on both. */
#include <string.h>

extern unsigned char __VERIFIER_nondet_uchar(void);

struct pair {
    unsigned char first;
    int second;
};

int main(void) {
    char table[8] = {0};
    struct pair pair;
    unsigned all;
#ifndef FIXED
    if (__VERIFIER_nondet_uchar())
#endif
        memset(&pair, 0, sizeof pair);
    pair.first = __VERIFIER_nondet_uchar() & 7;
    memcpy(&all, &pair, sizeof all);
    table[all]++;
    return table[1];
}
