/* Short programs for what the floor knows of results, sums, tables, requests and recursion. Each is right, and wrong by a little with MORE. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "crunner.h"

#ifndef CASE
#define CASE 12
#endif
#ifndef MORE
#define MORE 0
#endif

static int cells[10];

#if CASE == 1
/* A result says whether an index was set. */
static int choose(unsigned *index)
{
    unsigned n = crunner_get_byte();
    *index = 100;
    if (n > 20)
        return -1;
    if (n > 9 + MORE)
        return -2;
    *index = n;
    return 0;
}

int main(void)
{
    unsigned index;
    if (choose(&index) < 0)
        return 1;
    return cells[index];
}
#elif CASE == 2
/* The caller looks at the wrong result. */
static int choose(unsigned *index)
{
    unsigned n = crunner_get_byte();
    *index = n;
    return n < 10 ? 1 : n < 20 ? 0 : -1;
}

int main(void)
{
    unsigned index;
    int result = choose(&index);
    return result > 0 - MORE ? cells[index] : 0;
}
#elif CASE == 3
/* More kinds of results than are told apart, behind the end of a scope. */
static int pick(int *a, int *b, int *c)
{
    int kinds[3] = {crunner_get_bool(), crunner_get_bool(), crunner_get_bool()};
    *a = kinds[0] ? 3 : -3;
    *b = kinds[1] ? 3 : 0;
    *c = kinds[2] ? 3 : -1;
    if (*a < 0)
        return -1;
    if (*b == 0)
        return 0;
    if (*c < 0)
        return *a + *b;
    return *a + *b + *c + MORE;
}

int main(void)
{
    int a, b, c, sum = pick(&a, &b, &c);
    if (sum < 0)
        return 0;
    return cells[sum] + cells[a];
}
#elif CASE == 4
/* A sum that was compared bounds what is added, in the one place and the other. */
int main(void)
{
    char *at = (char *)cells, *end = at + sizeof cells;
    unsigned n = crunner_get_byte();
    at += crunner_range(0, 40);
    if (at + n > end + MORE)
        return 0;
    switch (n) {
    case 3:
        *at++ = 0; /* fall through */
    case 2:
        *at++ = 0; /* fall through */
    case 1:
        *at++ = 0;
    }
    return 0;
}
#elif CASE == 5
/* A table of indices: the last one decides. */
static const unsigned short table[20000] = {[3] = 2, [7000] = 9, [19999] = 8 + 2 * MORE};

int main(void)
{
    return cells[table[crunner_range(0, 19999)]];
}
#elif CASE == 6
/* A field of a table's rows: the other field may be anything. */
static const struct row {
    unsigned short index, other;
} table[500] = {[1] = {9, 60000}, [7] = {0, 11}, [499] = {9 + MORE, 400}};

int main(void)
{
    return cells[table[crunner_range(0, 499)].index];
}
#elif CASE == 7
/* What was asked for may be refused, and then nothing is written. */
int main(void)
{
    size_t n = crunner_get_byte();
    char *block = malloc(n + 1);
    if (block)
        block[n + MORE] = 0;
    free(block);
    return 0;
}
#elif CASE == 8
/* A request that is too large by choice. */
int main(void)
{
    size_t n = crunner_range(1, 100);
    char *block = malloc(crunner_get_bool() ? (size_t)-1 : n);
    if (block)
        block[n - 1 + MORE] = 0;
    free(block);
    return 0;
}
#elif CASE == 9
/* A large request that is given is no other one. */
int main(void)
{
    size_t n = crunner_range(1, 100), asked = n;
    char *block;
    if (crunner_get_bool())
        asked = MORE ? 50 : (size_t)1 << 60;
    block = malloc(asked);
    if (block)
        block[n - 1] = 0;
    free(block);
    return 0;
}
#elif CASE == 10
/* A variable of a function that calls itself, known below only. */
static int down(int *above, int n)
{
    int own = n, *next = &own;
    *above += 1;
    if (n > 0)
        down(next, n - 1);
    return *above + own;
}

int main(void)
{
    int first = 0;
    return down(&first, crunner_range(0, 5)) > 0 ? cells[9 + MORE] : 0;
}
#elif CASE == 11
/* The same, but known for longer. */
static int *known;

static int down(int n)
{
    int own = n;
    if (MORE)
        known = &own;
    return n > 0 ? down(n - 1) + own : own;
}

int main(void)
{
    known = cells;
    down(crunner_range(0, 3));
    return *known;
}
#elif CASE == 12
/* Known through a structure that is passed by value, and kept in a variable of the caller. */
struct box {
    int *to;
};

static void down(struct box **into, struct box *from, int n)
{
    int own = n;
    struct box mine = {MORE ? &own : cells};
    if (n > 0)
        down(into, &mine, n - 1);
    **into = *from;
    if (n == 2)
        **into = mine;
}

int main(void)
{
    struct box first = {cells}, last, *into = &last;
    down(&into, &first, crunner_range(0, 3));
    return *last.to;
}
#elif CASE == 13
/* An address that a function that calls itself gives back. */
static int *down(int *at, int n)
{
    int own = n;
    if (n > 0)
        at = down(MORE ? &own : at, n - 1);
    return at;
}

int main(void)
{
    return *down(cells, crunner_range(0, 3));
}
#elif CASE == 14
/* A scope that ends before its call does. */
static int down(int n)
{
    int *at = cells;
    {
        int own = n;
        if (MORE)
            at = &own;
        *at = n;
        if (n > 0)
            n = down(n - 1);
    }
    return *at + n;
}

int main(void)
{
    return down(crunner_range(0, 3));
}
#elif CASE == 15
/* A length that is any number, where that the sum lies in the object is asked. */
int main(void)
{
    char *at = (char *)cells, *end = at + sizeof cells;
    size_t n = crunner_get_uint();
    if (at + n > end + MORE)
        return 0;
    if (n > 0)
        at[n - 1] = 0;
    return 0;
}
#elif CASE == 16
/* A pointer before its object. */
int main(void)
{
    char *at = (char *)cells + crunner_range(0, 39), *from = at - crunner_get_ushort();
    if (from < (char *)cells - MORE)
        return 0;
    return *from;
}
#elif CASE == 17
/* NULL and an address are results, too. */
static int *find(unsigned n, unsigned *left)
{
    *left = 10 - n + MORE;
    return n < 10 ? cells + n : NULL;
}

int main(void)
{
    unsigned left, *to = &left;
    int *found = find(crunner_get_byte(), to);
    return found ? found[left - 1] : 0;
}
#elif CASE == 18
/* Rows of which a calculation finds the field, at a place that is no multiple of its size. */
static const unsigned char bytes[7 * 40] = {[3] = 1, [3 + 7 * 39] = 9 + MORE, [4 + 7 * 39] = 200, [2] = 99};

int main(void)
{
    return cells[bytes[3 + 7 * crunner_range(0, 39)]];
}
#endif
