/* A decoder's state: many small arrays in one structure with a callback, and one of them is searched through a pointer. What is
   read through it may be any part of the structure until it is known how many limits there are; the callback is not lost by that. One
   limit too many is kept. */
#include <stdio.h>

#define KEPT 8
#ifdef FIXED
#define IS_ROOM(used) ((used) < KEPT)
#else
#define IS_ROOM(used) ((used) <= KEPT)
#endif

struct decoder {
    int limit[KEPT];
    int used;
    unsigned char a[4], b[4], c[4], d[4];
    int (*next)(void);
    unsigned char e[4], f[4], g[4], h[4];
    int *last;
};

static int from_stdin(void)
{
    return getchar();
}

static int find(const int *limit, int used, int value)
{
    int n = 0;
    while (n < used && limit[n] < value)
        n++;
    return n;
}

static int step(struct decoder *decoder)
{
    int c = decoder->next();
    if (c == EOF)
        return 0;
    decoder->a[c & 3] = decoder->b[c & 3];
    decoder->b[c & 3] = decoder->c[c & 3];
    decoder->c[c & 3] = decoder->d[c & 3];
    decoder->d[c & 3] = 1;
    decoder->e[c & 3] = decoder->f[c & 3];
    decoder->f[c & 3] = decoder->g[c & 3];
    decoder->g[c & 3] = decoder->h[c & 3];
    decoder->h[c & 3] = 1;
    if (c == '+' && IS_ROOM(decoder->used))
        decoder->limit[decoder->used++] = c; /* here */
    else
        *decoder->last = find(decoder->limit, decoder->used, c);
    return 1;
}

int main(void)
{
    int last = 0;
    struct decoder decoder = {.next = from_stdin, .last = &last};
    while (step(&decoder)) {
    }
    return last == 3;
}
