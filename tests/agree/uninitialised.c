/* What was never written: locals, parts of structs that are returned or passed, fresh memory. Both sides have one pattern
 * for it, so that even a program that looks at it does the same on both. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "crunner.h"

struct two { int a, b; };
struct wide { long a; char b; };
struct floats { float x, y, z; };
struct large { int cell[10]; };

static struct two half(int a) { struct two t; t.a = a; return t; }
static struct wide most(int a) { struct wide w; w.a = a; return w; }
static struct wide constant(void) { struct wide w; w.a = 1; return w; }
static struct floats some(float x) { struct floats f; f.y = x; return f; }
static struct large few(int a) { struct large l; l.cell[a & 7] = a; return l; }
static int passed(struct two t, struct wide w) { return t.b + w.b; }

static unsigned sum(const void *of, size_t n)
{
    unsigned s = 1;
    for (size_t i = 0; i < n; i++)
        s = s * 31 + ((const unsigned char *)of)[i];
    return s;
}

int main(void)
{
    int n = crunner_get_byte(), set;
    if (n & 1)
        set = n;
    struct two t = half(n);
    struct wide w = most(n), c = constant();
    struct floats f = some((float)n);
    struct large l = few(n);
    unsigned y;
    memcpy(&y, &f.x, 4);
    printf("%d %d %d %d %d %x\n", set, t.a, t.b, w.b, c.b, y);
    printf("%x %d\n", sum(&l, sizeof l), passed(t, w));
    for (int i = 0; i < 3; i++) {
        unsigned char again[12];
        printf("%x ", sum(again, sizeof again));
        memset(again, i, (size_t)(n % 12));
    }
    unsigned char vla[n % 20 + 1];
    printf("%x\n", sum(vla, sizeof vla));
    unsigned char *block = malloc((size_t)n);
    if (!block)
        return 1;
    printf("%x\n", sum(block, (size_t)n));
    free(block);
    return set & 3;
}
