/* A reader as libraries have it: counters and a buffer in one structure with a callback and a pointer, which stay what they are
   while the arrays beside them are written. One byte too many is kept. */
#include <stdio.h>

#define KEPT 12
#ifdef FIXED
#define IS_ROOM(held) ((held) < KEPT)
#else
#define IS_ROOM(held) ((held) <= KEPT)
#endif

struct reader {
    unsigned seen[4];
    int (*next)(void);
    char *last;
    int held;
    char kept[KEPT];
};

static int from_stdin(void)
{
    return getchar();
}

static void start(struct reader *reader, char *last)
{
    for (int i = 0; i < 4; i++)
        reader->seen[i] = 0;
    reader->next = from_stdin;
    reader->last = last;
    reader->held = 0;
}

static int step(struct reader *reader)
{
    int c = reader->next();
    if (c == EOF)
        return 0;
    reader->seen[c & 3]++;
    if (c == '\n') {
        for (int i = 0; i < reader->held; i++)
            *reader->last = reader->kept[i];
        reader->held = 0;
    } else if (IS_ROOM(reader->held)) {
        reader->kept[reader->held++] = (char)c; /* here */
    }
    return 1;
}

int main(void)
{
    char last = 0;
    struct reader reader;
    start(&reader, &last);
    while (step(&reader)) {
    }
    return last == 'x';
}
