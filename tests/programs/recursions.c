/* Recursive functions of which a summary could say too much. Each program is right, and wrong by a little with MORE. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "crunner.h"

#ifndef CASE
#define CASE 1
#endif
#ifndef MORE
#define MORE 0
#endif

#if CASE == 1
/* Each activation reads an input, so that two equal calls have two results. */
static unsigned sum(unsigned n)
{
    if (n == 0)
        return 0;
    unsigned here = crunner_get_byte() & 1;
    return sum(n - 1) * 1 + here + (n & 0);
}

int main(void)
{
    unsigned a = sum(3), b = sum(3);
    assert(MORE ? a == b : a <= 3 && b <= 3);
    return 0;
}
#elif CASE == 2
/* A counter outlives the calls. */
static int walk(int n)
{
    static int calls;
    calls++;
    if (n <= 0)
        return calls;
    int rest = walk(n - 1);
    return rest > n ? rest : n;
}

int main(void)
{
    int n = crunner_get_byte() & 3;
    int first = walk(n);
    assert(first == n + 1);
    int second = walk(n);
    assert(second == (MORE ? first : 2 * first));
    return 0;
}
#elif CASE == 3
/* The caller's variable changes behind the function's parameter. */
static int down(int *left, int n)
{
    if (n <= 0)
        return 0;
    *left -= 1;
    int rest = down(left, n - 1);
    return rest + 1;
}

int main(void)
{
    int n = crunner_get_byte() & 7, left = n;
    int turns = down(&left, n);
    assert(turns == n);
    assert(left == (MORE ? n : 0));
    return 0;
}
#elif CASE == 4
/* It returns for one number only. */
static int seven(int n)
{
    if (n == 7)
        return 7;
    if (n > 7)
        exit(0);
    int rest = seven(n + 2);
    return rest > 7 ? 0 : rest;
}

int main(void)
{
    int n = crunner_get_byte();
    int found = seven(n);
    assert(found == 7);
    assert((n & 1) && n <= (MORE ? 5 : 7));
    return 0;
}
#elif CASE == 5
/* What a call assumes holds for that call alone. */
static int even(int n)
{
    if (n <= 0)
        return 0;
    crunner_assume(n % 2 == 0);
    int rest = even(n - 2);
    return rest ? 0 : n - n;
}

int main(void)
{
    int a = crunner_get_byte(), b = crunner_get_byte();
    even(a);
    assert((MORE ? b : a) % 2 == 0);
    return 0;
}
#elif CASE == 6
/* The smallest type wraps around. */
static unsigned char turns(unsigned char n)
{
    if (n == 3)
        return 0;
    unsigned char rest = turns(n - 1);
    return rest + 1;
}

int main(void)
{
    unsigned char n = crunner_get_byte();
    unsigned char all = turns(n);
    assert((unsigned char)(all + 3) == n);
    assert(MORE ? all <= n : all != n);
    return 0;
}
#elif CASE == 7
/* A result is cut to a type that has a sign. */
static signed char grow(int n)
{
    if (n <= 0)
        return 0;
    int rest = grow(n - 1);
    return rest + 2;
}

int main(void)
{
    int n = crunner_get_byte() % (MORE ? 70 : 60);
    assert(grow(n) >= 0);
    return 0;
}
#elif CASE == 8
/* Two results in one structure. */
struct two {
    int low, high;
};

static struct two span(int n)
{
    struct two none = {0, 0};
    if (n <= 0)
        return none;
    struct two rest = span(n - 1);
    struct two all = {rest.low - 1, rest.high + (n == 5 ? 2 : 1)};
    return all;
}

int main(void)
{
    int n = crunner_get_byte() & 7;
    struct two all = span(n);
    assert(all.low == -n);
    assert(all.high <= n + (MORE ? 0 : 1));
    return 0;
}
#elif CASE == 9
/* Called at two places, with numbers that have nothing in common. */
static int clamp(int n)
{
    if (n > 10)
        return clamp(n - 7) | 0;
    if (n < -10)
        return -(-clamp(n + 7));
    return n;
}

int main(void)
{
    int a = crunner_get_byte() & 63, b = -(crunner_get_byte() & 63);
    int x = clamp(a), y = clamp(b);
    assert(x >= 0 && x <= 10);
    assert(y <= 0 && y >= (MORE ? -9 : -10));
    return 0;
}
#elif CASE == 10
/* The violation is some calls deep. */
static int deep(int n, int level)
{
    assert(level < (MORE ? 12 : 17));
    if (n <= 0)
        return level;
    int rest = deep(n - 1, level + 1);
    return rest < level ? level : rest;
}

int main(void)
{
    deep(crunner_get_byte() & 15, 0);
    return 0;
}
#elif CASE == 11
/* Three functions in turn; one of them looks at a global. */
static int global;
static int b(int n);
static int c(int n);

static int a(int n)
{
    if (n <= 0)
        return 0;
    int rest = b(n - 1);
    return rest + 1;
}

static int b(int n)
{
    int rest = c(n);
    return rest ? rest : 0 + n - n;
}

static int c(int n)
{
    global = n;
    int rest = a(n);
    return rest == 1000 ? 0 : rest;
}

int main(void)
{
    int n = crunner_get_byte() & 7;
    global = -1;
    int all = a(n);
    assert(all == n);
    assert(global == (n && !MORE ? 0 : -1));
    return 0;
}
#elif CASE == 12
/* An own array whose address goes down the calls. */
static int fill(int *at, int n)
{
    if (n <= 0)
        return 0;
    *at = n;
    int rest = fill(at + 1, n - 1);
    return rest + *at;
}

static int start(int n)
{
    int own[8] = {0};
    if (n > 8)
        return -1;
    int all = fill(own, n);
    return own[MORE ? 1 : 0] == n ? all : -2;
}

int main(void)
{
    int n = 1 + (crunner_get_byte() & 7);
    assert(start(n) >= 0);
    return 0;
}
#elif CASE == 13
/* A number that is not whole. */
static double half(double x, int n)
{
    if (n <= 0)
        return x;
    double rest = half(x / 2, n - 1);
    return rest < 0 ? 0 : rest;
}

int main(void)
{
    int n = crunner_get_byte() & 15;
    double x = half(1, n);
    assert(x > 0 && x <= 1);
    assert(MORE ? x > 0.001 : x > 0.00001);
    return 0;
}
#elif CASE == 14
/* What comes back begins again after four. */
static int less(int n)
{
    if (n <= 0)
        return 1;
    int rest = less(n - 1);
    return rest > 4 ? rest - (MORE ? 5 : 4) : rest + 1;
}

int main(void)
{
    int n = crunner_get_byte() & 15;
    assert(less(n) != 0);
    return 0;
}
#elif CASE == 15
/* An index that is computed by recursion. */
static unsigned bits(unsigned n)
{
    if (n == 0)
        return 0;
    unsigned rest = bits(n >> 1);
    return rest + (n & 1);
}

int main(void)
{
    static int table[9];
    unsigned n = crunner_get_byte();
    table[8 - bits(n)] = 1;
    return table[bits(n | (MORE ? 256 : 0))];
}
#elif CASE == 16
/* The arguments change places. */
static int swap(int a, int b)
{
    if (a <= 0)
        return b;
    int rest = swap(b - 1, a);
    return rest > 50 ? 50 : rest;
}

int main(void)
{
    int a = crunner_get_byte() & 31, b = crunner_get_byte() & 31;
    int all = swap(a, b);
    assert(all <= (MORE ? 30 : 50));
    return 0;
}
#elif CASE == 17
/* Through a pointer, with fewer arguments than it has. */
static int count(int n, int step)
{
    if (n <= 0)
        return 0;
    int rest = count(n - 1 - (step & 1), step);
    return rest + 1;
}

int main(void)
{
    int (*pointer)(int, int) = crunner_get_bool() ? count : count;
    int n = crunner_get_byte() & 15;
    int all = pointer(n, crunner_get_byte());
    assert(all <= n);
    assert(MORE ? all == n : 2 * all >= n);
    return 0;
}
#elif CASE == 18
/* The parameter changes before the call. */
static int spent(int n)
{
    if (n <= 0)
        return 0;
    n -= 2;
    int rest = spent(n);
    return rest + n + 2;
}

int main(void)
{
    int n = crunner_get_byte() & 15;
    int all = spent(n);
    assert(MORE ? all > n || n == 0 : all >= n);
    return 0;
}
#elif CASE == 19
/* Large numbers in 64 bits, small ones in 32. */
static long long product(int n)
{
    if (n <= 1)
        return 1;
    long long rest = product(n - 1);
    return rest * n;
}

int main(void)
{
    int n = crunner_get_byte() % 21;
    long long all = product(n);
    assert(all > 0);
    assert(MORE ? (int)all > 0 : (unsigned)all > 0);
    return 0;
}
#elif CASE == 20
/* The program's own entry is called again. */
int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 6)
        return argc;
    int next = crunner_get_bool() ? argc + 1 : argc + 2;
    int end = main(next, 0);
    assert(end >= 7 && end <= (MORE ? 7 : 8));
    return end;
}
#endif
