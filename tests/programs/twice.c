/* What is computed twice, joined and taken apart again, or walked in step. Each is right, and wrong by a little with MORE. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "crunner.h"

#ifndef CASE
#define CASE 1
#endif
#ifndef MORE
#define MORE 0
#endif

#define INLINED static inline __attribute__((always_inline))

static unsigned char from[64], to[64];

/* In case 11 an address may be so far from its object that its order depends on where the platform has its variables: the proof says that this is
   assumed not to be, and executions are not compared. */
#if CASE == 1 || CASE == 11
/* A sum is compared as one expression and used as another one. */
int main(void)
{
    unsigned char *op = to + crunner_get_byte() % 64;
    size_t length = (size_t)crunner_get_byte() << (CASE == 1 ? 20 : 56) | crunner_get_byte();
    if ((size_t)op + length < (size_t)op)
        return 1;
    if (op + length > to + 60)
        return 1;
    op += length;
    op[3 + MORE] = 1;
    return 0;
}
#elif CASE == 2
/* The operands of a sum change between the two computations. */
int main(void)
{
    unsigned i = crunner_get_byte() % 8, n = 0;
    for (int turn = 0; turn < 4; turn++) {
        n = i + 4;
        if (n >= 60)
            return 1;
        i += crunner_get_byte() % 16;
        if (!MORE && i + 4 >= 64)
            return 1;
        to[i + 4] = 1;
    }
    return 0;
}
#elif CASE == 3
/* Ways out of a scope are joined where its variables end. */
int main(void)
{
    unsigned at = 100;
    for (;;) {
        unsigned char pair[2] = {crunner_get_byte(), crunner_get_byte()};
        if (pair[0] == 0)
            break;
        if (pair[0] > pair[1] || pair[1] > 63 + MORE)
            continue;
        at = pair[1];
        to[at] = pair[0];
        if (memcmp(pair, "ab", 2) == 0)
            return 1;
    }
    return 0;
}
#elif CASE == 4
/* An inlined function says by its result whether what it wrote is set. */
INLINED int next(const unsigned char **ip, const unsigned char *end)
{
    if (*ip >= end)
        return -1;
    return *(*ip)++;
}

int main(void)
{
    const unsigned char *ip = from;
    const unsigned char *end = from + sizeof from + MORE;
    int sum = 0, c;
    while ((c = next(&ip, end)) != -1)
        sum += c;
    return sum != 0;
}
#elif CASE == 5
/* An inlined function gives the address of a variable whose scope is over. */
INLINED int *kept(int *mine)
{
    int own = 3;
    int *p = MORE ? &own : mine;
    *p += 1;
    return p;
}

int main(void)
{
    int mine = 1;
    return *kept(&mine) > 9;
}
#elif CASE == 6
/* A variable of an inlined function is new in each turn. */
INLINED unsigned step(unsigned c)
{
    unsigned own;
    unsigned *p = &own;
    if (c & 1 || !MORE)
        *p = c % 64;
    return own;
}

int main(void)
{
    unsigned sum = 0;
    for (int i = 0; i < 3; i++)
        sum += to[step(crunner_get_byte())];
    return sum != 0;
}
#elif CASE == 7
/* The ranges of a copy are apart because of a distance. */
int main(void)
{
    unsigned at = crunner_get_byte() % 48, back = crunner_get_byte();
    if (back > at || back < 8 - MORE)
        return 1;
    memcpy(to + at, to + at - back, 8);
    return 0;
}
#elif CASE == 8
/* Two pointers are as far from where they began as each other. */
int main(void)
{
    unsigned at = crunner_get_byte() % 32, length = crunner_get_byte() % 32 + 1;
    unsigned char *d = to + at, *end = d + length;
    const unsigned char *s = from + at;
    do {
        *d++ = s[MORE];
        s++;
    } while (d < end || (MORE && s < from + 64));
    return 0;
}
#elif CASE == 9
/* The same loop inside another one, which moves the beginning. */
int main(void)
{
    unsigned char *d = to;
    for (;;) {
        unsigned length = crunner_get_byte() % 8 + 1;
        if (length > (size_t)(to + sizeof to + MORE - d))
            return 0;
        for (unsigned char *end = d + length; d < end; d++)
            *d = 1;
    }
}
#elif CASE == 10
/* A condition of two parts, asked where both are joined. */
int main(void)
{
    unsigned a = crunner_get_byte(), b = crunner_get_byte();
    int fits = a < 32 && b < 32 + MORE;
    if (fits)
        to[a + b + 1] = 1;
    return 0;
}
#elif CASE == 12
/* A call that leaves an argument out passes whatever the register holds. */
static int add();

int main(void)
{
    return MORE ? add(1) : add(1, 0);
}

static int add(int a, int b)
{
    to[b == 0 ? 0 : 64] = 1;
    return a + b;
}
#endif
