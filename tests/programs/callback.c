/* The assertion stands in a function that is only called through a pointer. */
#include <assert.h>
#include <stdio.h>

typedef void (*visit)(int value, int *state);

static void largest(int value, int *state)
{
    if (value > *state)
        *state = value;
}

static void ascending(int value, int *state)
{
#ifdef FIXED
    if (value < *state)
        return;
#endif
    assert(value >= *state); /* here */
    *state = value;
}

static const visit visitors[] = {largest, ascending};

int main(void)
{
    int which = getchar(), state = 0, c;

    if (which != '0' && which != '1')
        return 1;
    while ((c = getchar()) != EOF)
        visitors[which - '0'](c, &state);
    return 0;
}
