/* What is wrong here never happens, as a large prime has no factors: which neither the floor nor a solver sees. */
#include <stdlib.h>

#include "crunner.h"

static int table[10];

static int never(void)
{
    unsigned long a = crunner_get_ulong(), b = crunner_get_ulong();

    return a > 1 && b > 1 && a < 4294967296 && b < 4294967296 && a * b == 9223372036854775783ul;
}

static int pick(const int *from, int i)
{
    return from[i];
}

int main(void)
{
    int n = (int)crunner_range(0, 50);
    char *freed = malloc(4), *null = table[0] ? NULL : (char *)table;
    int sum = 0;

    if (!freed)
        return 0;
    if (never()) {
        sum += pick(table, n);
    }
    if (never())
        null = NULL;
    sum += *null;
    if (never())
        free(freed);
    freed[1] = 2;
    return sum;
}
