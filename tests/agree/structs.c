/* Structs by value, of the sizes that the ABI passes differently; compound literals; flexible arrays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "crunner.h"

struct two_floats { float x, y; };
struct three_floats { float x, y, z; };
struct mixed { char c; double d; };
struct large { int cell[9]; };
struct tail { unsigned n; unsigned char data[]; };

static struct two_floats add2(struct two_floats a, struct two_floats b)
{
    return (struct two_floats){a.x + b.x, a.y + b.y};
}
static struct three_floats add3(struct three_floats a, float by)
{
    a.x += by; a.y -= by; a.z *= by;
    return a;
}
static struct mixed twice(struct mixed m) { m.c++; m.d *= 2; return m; }
static struct large shift(struct large l, int by)
{
    for (int i = 8; i > 0; i--)
        l.cell[i] = l.cell[i - 1];
    l.cell[0] = by;
    return l;
}

int main(void)
{
    float f = (float)crunner_get_byte();
    struct two_floats t = add2((struct two_floats){f, 1}, (struct two_floats){.y = f});
    struct three_floats u = add3((struct three_floats){1, 2, f}, 0.25f);
    struct mixed m = twice((struct mixed){'a', f / 3});
    struct large l = {{0}};
    for (int i = 0; i < 12; i++)
        l = shift(l, i * (int)f);
    printf("%g %g %g %g %g %c %.6f %d %d\n", t.x, t.y, u.x, u.y, u.z, m.c, m.d, l.cell[0], l.cell[8]);
    unsigned n = crunner_get_byte() % 32;
    struct tail *tail = malloc(sizeof *tail + n);
    if (!tail)
        return 9;
    tail->n = n;
    crunner_get_bytes(tail->data, n);
    unsigned sum = 0;
    for (unsigned i = 0; i < tail->n; i++)
        sum = sum * 31 + tail->data[i];
    free(tail);
    printf("%u\n", sum);
    return sum % 5;
}
