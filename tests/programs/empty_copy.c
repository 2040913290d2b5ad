/* A copy of no bytes may lie anywhere, behind its target too. */
#include <string.h>

extern unsigned long __VERIFIER_nondet_ulong(void);

int main(void)
{
    char room[8] = {0};
    const char from[8] = {1};
    char *to = room;
    unsigned long at = __VERIFIER_nondet_ulong(), n = __VERIFIER_nondet_ulong();

    if (at < 10 || at > 1000 || n > 0)
        return 0;
    memcpy(to + at, from, n);
    return room[0];
}
