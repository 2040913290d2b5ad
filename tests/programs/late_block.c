/* A structure whose blocks are allocated late, and one that never is: NULL and an index lead nowhere, so that a write through such a pointer
   leaves the structure itself alone. The fault: the last loop may begin before the table is there. */
#include <stdio.h>
#include <stdlib.h>

#ifndef START
#define START 0
#endif

struct decoder {
    int state, count;
    unsigned *table;
    unsigned char *rest;
    unsigned char names[16];
};

static int step(struct decoder *d, int c)
{
    switch (d->state) {
    case 0:
        d->count = 0;
        d->table = malloc(64 * sizeof *d->table);
        if (!d->table)
            return 0;
        d->state = 1;
        return 1;
    case 1:
        for (int i = 0; i < 64; i++)
            d->table[i] = (unsigned)c + (unsigned)i;
        d->state = 2;
        return 1;
    default:
        d->names[c & 15] = (unsigned char)d->table[c & 63];
        d->count++;
        return d->count < 100;
    }
}

int main(void)
{
    struct decoder *d = malloc(sizeof *d);
    int c;
    if (!d)
        return 1;
    d->state = START;
    d->count = 0;
    d->table = NULL;
    d->rest = NULL;
    while ((c = getchar()) != EOF && step(d, c))
        ;
    free(d->table);
    free(d);
    return 0;
}
