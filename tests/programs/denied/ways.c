/* Claims that a run disproves, each behind a condition that no search meets by chance. What is
 * special in each: where the engine's picture of the program could be narrower than the program. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "crunner.h"

static int seldom(void) {
    uint64_t x;
    crunner_get_bytes(&x, sizeof x);
    for (int i = 0; i < 6; i++) x = (x * x + 0x9e3779b97f4a7c15u) ^ x >> 31;
    return x == 0x1985831fa1948fe3u;
}

struct wide {
    long part[4];
};

#if CASE == 1 /* A structure by value, passed through a pointer to a function. */
static void change(struct wide *w, int to) { w->part[1] = to ? 5 : 7; }
static long first(struct wide w) {
    long before = w.part[1];
    change(&w, seldom());
    if (before == 7) assert(w.part[1] == 7);
    return w.part[1];
}
static long second(struct wide w) { return w.part[0]; }
static long (*const table[2])(struct wide) = {first, second};
int main(void) {
    struct wide w = {{1, crunner_get_byte(), 3, 4}};
    return (int)table[crunner_get_bool()](w);
}
#elif CASE == 2  /* A table of differences of labels. */
int main(void) {
    static const int table[] = {&&good - &&good, &&bad - &&good};
    goto *(&&good + table[crunner_get_byte() & 1]);
bad:
    assert(0);
good:
    return 0;
}
#elif CASE == 3  /* An initial value with an address and a tag. */
static int object, few[10];
static uint64_t boxed = (uint64_t)&object + 0xfff8000000000000u;
int main(void) {
    int i = boxed ? 20 : 3;
    return seldom() ? few[i] : 0;
}
#elif CASE == 4  /* An integer that is wider than 128 bits. */
static _BitInt(256) wide = 5;
int main(void) {
    if (seldom()) assert(*(unsigned char *)&wide == 0);
    return 0;
}
#elif CASE == 5  /* Multiples of an address. */
static int beside[7], object;
int main(void) {
    beside[1] = object;
    if (seldom()) assert((((uintptr_t)&object * 3) & 0xffff) == 0);
    return 0;
}
#elif CASE == 6  /* A vector before a parameter that is written. */
typedef long pair __attribute__((vector_size(16)));
struct node {
    long value;
    struct node *next;
};
void outside(pair by, struct node *into, const struct node *from);
int main(void) {
    struct node a = {8, 0}, b = {9, &a};
    outside((pair){1, 2}, &b, &a);
    assert(b.value == 9);
    return 0;
}
#elif CASE == 7  /* A product that wraps around, beside one that may. */
static long few[4];
int main(void) {
    uint64_t n;
    crunner_get_bytes(&n, sizeof n);
    uint64_t bytes = n * 8;
    if (bytes > 24) return 0;
    return (int)(*(long *)((char *)few + bytes) + few[n]);
}
#elif CASE == 8  /* A default that is declared unreachable. */
static int few[4];
int main(void) {
    int i;
    switch (crunner_get_byte()) {
    case 0: i = 1; break;
    case 1: i = 2; break;
    case 2: i = 3; break;
    default: __builtin_unreachable();
    }
    return few[i];
}
#elif CASE == 9  /* A lane that the vector does not have. */
typedef int four __attribute__((vector_size(16)));
int main(void) {
    four v = {1, 1, 1, 1};
    if (seldom()) assert(v[crunner_get_byte()] == 1);
    return 0;
}
#elif CASE == 10 /* What the compiler knows. */
int main(void) {
    static char few[8];
    int n = crunner_get_byte() & 7;
    if (seldom()) assert(__builtin_object_size(few + n, 0) != 8 && !__builtin_constant_p(n));
    return 0;
}
#elif CASE == 11 /* A number that the engine uses for an object. */
static int object;
int main(void) {
    volatile uint64_t number = 0x5b26000100000000u;
    uint64_t plain = 0x5b26000100000000u;
    object = (int)number;
    return seldom() ? *(int *)plain : 0;
}
#elif CASE == 12 /* An outside function before code that is said not to be reached. */
void complain(const char *text);
int main(void) {
    switch (crunner_get_byte()) {
    case 0: return 1;
    default: complain("other"); __builtin_unreachable();
    }
}
#elif CASE == 13 /* Assembly that may fault. */
int main(void) {
    if (seldom()) __asm__ volatile("mov %0, %%cr0" : : "r"(0L));
    return 0;
}
#endif
